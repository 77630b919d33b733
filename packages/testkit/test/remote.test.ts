import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestServer, startServer, type TestServer, VirtualClock } from '../src/index.js';
import { useTinkexServer } from '../src/jest/index.js';
import { connectTestServer, startServerProcess } from '../src/remote/index.js';

const TOKEN = 'a-token-of-a-test-run';
const scripted = { engine: 'canned', control: { token: TOKEN } } as const;
/** A child of a process that runs the sources has to run them, too. */
const FROM_SOURCES = '--conditions=@tinkex/source --import tsx';

function call({ url, apiKey }: { readonly url: string; readonly apiKey: string }, path = 'healthz'): Promise<Response> {
  return fetch(`${url}/api/v1/${path}`, { headers: { 'x-api-key': apiKey, connection: 'close' } });
}

describe('a server in another process, over its control API', () => {
  let local: TestServer;
  const clock = new VirtualClock();
  beforeAll(async () => {
    local = await startServer({ ...scripted, clock });
  });
  afterAll(() => local.close());

  const remote = (scope?: string) => connectTestServer({ url: `${local.url}/`, token: TOKEN, scope });

  it('takes a 429 in one line, for one scope', async () => {
    const [mine, yours] = [remote('mine'), remote('yours')];
    await mine.on('getServerCapabilities').once().reply(429, { retryAfterMs: 7 });
    expect((await call(yours, 'get_server_capabilities')).status).toBe(200);
    const limited = await call(mine, 'get_server_capabilities');
    expect([limited.status, limited.headers.get('retry-after-ms')]).toEqual([429, '7']);
    await mine.verify();
    expect([await mine.count('getServerCapabilities'), await remote().count('getServerCapabilities')]).toEqual([1, 2]);
    expect(await mine.calls({ status: 429 })).toMatchObject([{ route: 'getServerCapabilities', scope: 'mine', violations: [] }]);
    await mine.reset();
    expect(await mine.calls()).toEqual([]);
  });

  it('takes every action, and moves the clock', async () => {
    const server = remote('actions');
    await server.on('healthz').times(1).fault('reset', { moment: 'before' });
    await expect(call(server)).rejects.toThrow();
    await server.on('healthz').once().pass({ 'x-note': 'seen' });
    expect((await call(server)).headers.get('x-note')).toBe('seen');
    await server.on('optimStep').result({ metrics: { lr: 1 } });
    await server.on('asample').forRequestId('none').fail({ error: 'no', category: 'user' });
    await server.on('healthz').once().delay(5_000).reply(500, { detail: 'later' }, { 'x-late': 'yes' });
    await server.on('getServerCapabilities').reply(200, { supported_models: [{ model_name: 'a/b' }] });
    const late = call(server);
    await vi.waitUntil(() => clock.pending > 0);
    await server.advance(5_000);
    expect([(await late).headers.get('x-late'), await (await call(server, 'get_server_capabilities')).json()]).toEqual([
      'yes',
      { supported_models: [{ model_name: 'a/b' }] },
    ]);
    await expect(server.verify()).rejects.toThrow(/script result on optimStep was used 0 of 1 times.*script fail on asample/s);
    await server.reset();
    await server.verify();
  });

  it('checks numbers of calls, and starts chaos', async () => {
    const server = remote('numbers');
    await server.expect('healthz', { atLeast: 1, atMost: 1 });
    await server.chaos({ seed: 1, rate: 1, kinds: ['status-503'], routes: ['getServerCapabilities'] });
    await expect(server.verify()).rejects.toThrow('healthz was called 0 times, expected 1');
    expect((await call(server)).status).toBe(200);
    expect((await call(server, 'get_server_capabilities')).status).toBe(503);
    await server.verify();
  });

  it('names the line of an unused script, and counts an instruction that was not awaited', async () => {
    const server = remote('forgotten');
    void server.on('healthz').reply(503);
    await expect(server.verify()).rejects.toThrow(
      /1 complaint:\n.*healthz was used 0 of 1 times \(created at .*remote\.test\.ts:\d+:\d+\)/,
    );
    await server.reset();
  });

  it('throws what the same call throws in process', async () => {
    const server = remote('wrong');
    const inProcess = createTestServer({ engine: 'canned' });
    for (const make of [
      (target: { on(route: never): { reply(status: never): unknown } }) => target.on('sample' as never).reply(500 as never),
      (target: { on(route: never): { reply(status: never): unknown } }) => target.on('asample' as never).reply(42 as never),
    ]) {
      const message = await Promise.resolve()
        .then(() => make(inProcess))
        .then(
          () => 'none',
          (error: RangeError) => error.message,
        );
      expect(message).not.toBe('none');
      await expect(make(server)).rejects.toThrow(new RangeError(message));
    }
    await expect(connectTestServer({ url: local.url, token: 'another' }).verify()).rejects.toThrow('Send the control token');
    await expect(connectTestServer({ url: 'http://127.0.0.1:9', token: TOKEN }).verify()).rejects.toThrow('Has it been stopped?');
  });
});

describe('startServerProcess', () => {
  it('starts a server with options, which ends when it is stopped', async () => {
    vi.stubEnv('NODE_OPTIONS', FROM_SOURCES);
    const started = await startServerProcess({ engine: 'canned', hasVirtualClock: true, baseModels: ['a/b'] });
    const server = connectTestServer(started);
    await server.advance(1_000);
    expect(await (await call(server, 'get_server_capabilities')).text()).toContain('a/b');
    await started.stop();
    await started.stop();
    await expect(server.verify()).rejects.toThrow('Has it been stopped?');
  });

  it('says what went wrong when it cannot start', async () => {
    vi.stubEnv('NODE_OPTIONS', FROM_SOURCES);
    await expect(startServerProcess({ port: 99_999_999 })).rejects.toThrow(/ended with code 1 before it listened.*99999999/s);
  });

  it('leaves no server behind when the tests are killed', async () => {
    const program = `
      import { startServerProcess } from './src/remote/index.ts';
      console.log((await startServerProcess({ engine: 'canned' })).url);
      setInterval(() => undefined, 1_000);`;
    const cwd = new URL('..', import.meta.url);
    const env = { ...process.env, NODE_OPTIONS: FROM_SOURCES };
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd, env });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const server = { url: String(line).trim(), apiKey: 'tml-x' };
    expect((await call(server)).status).toBe(200);
    parent.kill('SIGKILL');
    await vi.waitUntil(
      () =>
        call(server).then(
          () => false,
          () => true,
        ),
      { timeout: 30_000 },
    );
  });
});

/** Hooks that a test runs itself. */
function collectedHooks() {
  const collected: Record<string, () => Promise<void>> = {};
  const collect = (name: string) => (run: () => Promise<void>) => {
    collected[name] = run;
  };
  const hooks = {
    beforeAll: collect('beforeAll'),
    beforeEach: collect('beforeEach'),
    afterEach: collect('afterEach'),
    afterAll: collect('afterAll'),
  };
  return { hooks, run: (name: keyof typeof hooks) => collected[name]?.() };
}

describe('useTinkexServer', () => {
  it('gives each test a scope on one server, verifies it, and stops the server', async () => {
    vi.stubEnv('NODE_OPTIONS', FROM_SOURCES);
    const { hooks, run } = collectedHooks();
    const server = useTinkexServer({ hooks, engine: 'canned' });
    expect(() => server.url).toThrow('inside of tests');
    await run('beforeAll');
    await run('beforeEach');
    const { url, apiKey } = server;
    await server.on('healthz').reply(503);
    await expect(run('afterEach')).rejects.toThrow('healthz was used 0 of 1 times');
    await run('beforeEach');
    expect([server.url === url, server.apiKey === apiKey]).toEqual([true, false]);
    expect((await call(server)).status).toBe(200);
    await run('afterEach');
    await run('afterAll');
    await expect(call({ url, apiKey })).rejects.toThrow();
  });

  it('uses the server that the environment names', async () => {
    const local = await startServer(scripted);
    const { hooks, run } = collectedHooks();
    const server = useTinkexServer({ hooks });
    vi.stubEnv('TINKEX_TESTKIT_URL', local.url);
    await expect(run('beforeAll')).rejects.toThrow('Set both');
    vi.stubEnv('TINKEX_TESTKIT_TOKEN', TOKEN);
    await run('beforeAll');
    await run('beforeEach');
    expect(server.url).toBe(local.url);
    expect((await call(server)).status).toBe(200);
    await run('afterEach');
    await run('afterAll');
    await local.close();
  });

  it('says where it belongs when there are no hooks', () => {
    expect(() => useTinkexServer()).toThrow('Call useTinkexServer() in a test file');
  });
});
