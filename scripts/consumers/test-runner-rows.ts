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

/** The server of the helper for Jest, which needs no flag: it runs in its own process. */
const SCRIPTED = `
const server = useTinkexServer({ engine: 'canned' });
const get = () => fetch(server.url + '/api/v1/healthz', { headers: { 'x-api-key': server.apiKey } });
test('a script answers', async () => {
  await server.on('healthz').once().reply(429, { retryAfterMs: 10 });
  expect((await get()).status).toBe(429);
  expect((await get()).status).toBe(200);
  expect(await server.count('healthz')).toBe(2);
});
test('a forgotten script is found, with its line', async () => {
  await server.on('healthz').reply(500);
  await expect(server.verify()).rejects.toThrow(/created at .*app\\.test\\.js:\\d+/);
  await server.reset();
});`;

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
import { tinkexTest } from '@tinkex/testkit/node-test';
test('an application samples', async () => {
  const server = await startServer();${WORK}
  assert.equal(sequences.length, 1);
});
tinkexTest('an application samples', async ({ server, clientOptions, clock }) => {
  const service = new ServiceClient(clientOptions);
  server.expect('getServerCapabilities').once();
  const { supportedModels } = await clock.runUntil(service.getServerCapabilities());
  assert.ok(supportedModels.length > 0);
  await service.close();
});`,
      },
      commands: [['node', '--test', 'app.test.mjs']],
      expected: '# pass 2',
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
      files: { 'app.test.js': `${IMPORTS}\nimport { useTinkexServer } from '@tinkex/testkit/jest';\n${TEST}\n${SCRIPTED}` },
      commands: [JEST],
      env: VM_MODULES,
      expected: '3 passed',
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
    {
      name: 'Jest, CommonJS without flags',
      manifest: { type: 'commonjs', jest: { testEnvironment: 'node', transform: {}, testMatch: ['**/*.test.js'] } },
      files: { 'app.test.js': `const { useTinkexServer } = require('@tinkex/testkit/jest');\n${SCRIPTED}` },
      commands: [JEST],
      expected: '2 passed',
    },
  ];
}
