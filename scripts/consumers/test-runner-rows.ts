import type { Row } from './row.js';

const WORK = `
  const service = new ServiceClient(server.clientOptions);
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
  const { sequences } = await sampling.sample({ prompt: [1, 2], samplingParams: { maxTokens: 2 } });
  await service.close();
  server.verify();
  await server.close();`;
const TEST = `
test('an application samples', async () => {
  const server = await startServer();${WORK}
  expect(sequences).toHaveLength(1);
});`;
const IMPORTS = `
import { ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';`;

/** Jest loads ES modules only with this flag of Node. */
const VM_MODULES = { NODE_OPTIONS: '--experimental-vm-modules' };
const JEST = ['node', '../../node_modules/jest/bin/jest.js', '--watchman=false'] as const;

/** A test of an application, in each test runner. */
export function testRunnerRows(): Row[] {
  return [
    {
      name: 'node:test',
      files: {
        'app.test.mjs': `${IMPORTS}
import assert from 'node:assert/strict';
import { test } from 'node:test';
test('an application samples', async () => {
  const server = await startServer();${WORK}
  assert.equal(sequences.length, 1);
});`,
      },
      commands: [['node', '--test', 'app.test.mjs']],
      expected: '# pass 1',
    },
    {
      name: 'Vitest',
      files: { 'app.test.mjs': `${IMPORTS}\nimport { expect, test } from 'vitest';\n${TEST}` },
      commands: [['node', '../../node_modules/vitest/vitest.mjs', 'run', '--reporter=default']],
      expected: '1 passed',
    },
    {
      name: 'Jest, ESM',
      manifest: { type: 'module', jest: { testEnvironment: 'node', transform: {}, testMatch: ['**/*.test.js'] } },
      files: { 'app.test.js': `${IMPORTS}\n${TEST}` },
      commands: [JEST],
      env: VM_MODULES,
      expected: '1 passed',
    },
    {
      name: 'Jest, CommonJS',
      manifest: { type: 'commonjs', jest: { testEnvironment: 'node', transform: {}, testMatch: ['**/*.test.js'] } },
      files: {
        'app.test.js': `
let ServiceClient, startServer;
beforeAll(async () => {
  ({ ServiceClient } = await import('@tinkex/clients'));
  ({ startServer } = await import('@tinkex/testkit'));
});
${TEST}`,
      },
      commands: [JEST],
      env: VM_MODULES,
      expected: '1 passed',
    },
  ];
}
