import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ENTRY = new URL('../src/node-test/index.ts', import.meta.url).href;
/** One test each, of which only the first may pass. */
const TESTS = `
import assert from 'node:assert/strict';
import { tinkexTest } from '${ENTRY}';

const get = (server, path) => fetch(server.url + '/api/v1/' + path, { headers: { 'x-api-key': server.apiKey, connection: 'close' } });

tinkexTest('passes', { engine: 'canned' }, async ({ server, clock, clientOptions, test }) => {
  server.on('healthz').reply(429).once();
  assert.equal((await get(server, 'healthz')).status, 429);
  assert.deepEqual(clientOptions, { baseUrl: server.url, apiKey: server.apiKey, clock });
  assert.equal(server.clock, clock);
  assert.equal(test.name, 'passes');
});
tinkexTest('breaks a rule', async ({ server }) => {
  await get(server, 'nowhere');
});
tinkexTest('leaves a timer', async ({ clock }) => {
  clock.setTimeout(() => undefined, 1_000);
});
tinkexTest('has its own error', async ({ server }) => {
  server.expect('healthz').once();
  throw new Error('mine');
});
tinkexTest('waits forever', { timeoutMs: 300 }, async ({ clock }) => {
  await new Promise((resolve) => clock.setTimeout(resolve, 1_000));
});
tinkexTest('hangs', { timeoutMs: 200 }, () => new Promise(() => undefined));
`;

describe('tinkexTest of node:test', () => {
  let directory: string;
  let output: string;
  let code: number | null;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tinkex-node-test-'));
    const file = join(directory, 'app.test.mjs');
    await writeFile(file, TESTS);
    const args = ['--conditions=@tinkex/source', '--import', 'tsx', '--test', '--test-reporter=tap', file];
    // A run inside of a run prints for its parent, unless it does not know of it.
    const child = spawn(process.execPath, args, {
      cwd: new URL('..', import.meta.url),
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: '' },
    });
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    output = await text(child.stdout);
    code = await exited;
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('gives a server, its clock and options for a client', () => {
    expect(output).toMatch(/^ok \d - passes$/m);
    expect(code).toBe(1);
  });

  it.each([
    ['breaks a rule', '[route-unknown]'],
    ['leaves a timer', 'The test left behind: 1 timers on the virtual clock'],
    ['has its own error', 'mine'],
    ['waits forever', '1 timer waits on the virtual clock, which moves only when you advance it'],
    ['hangs', 'The test timed out after 200 ms.'],
  ])('fails a test that %s', (name, message) => {
    const [, report = ''] = output.split(new RegExp(`^not ok \\d - ${name}$`, 'm'));
    expect(report.split(/^(?:not )?ok /m)[0]).toContain(message);
  });
});
