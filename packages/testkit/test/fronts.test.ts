import { HttpClient } from '@tinkex/http';
import { ConnectionError } from '@tinkex/types';
import { setupServer } from 'msw/node';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestServer, createTestTarget, learnEngine, memoryTransport, startServer, VirtualClock } from '../src/index.js';
import { handlers } from '../src/msw/index.js';
import { targetEnvironment } from '../src/target/environment.js';

const headers = { 'x-api-key': 'tml-test-key' };

describe('handle', () => {
  it('answers a fetch request', async () => {
    const server = createTestServer({ engine: 'canned' });
    const response = await server.handle(new Request(`${server.url}/api/v1/healthz`, { headers }));
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    expect(response.headers.get('content-length')).toBe('15');
    server.verify();
  });

  it('turns faults into what fetch makes of them', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('healthz').fault('reset').once();
    server.on('healthz').fault('truncate', { moment: 'after' }).once();
    server.on('healthz').fault('stall').once();
    server.on('healthz').fault('stall-body', { moment: 'after' }).once();
    server.on('healthz').fault('corrupt').once();
    const request = (signal?: AbortSignal): Request =>
      new Request(`${server.url}/api/v1/healthz`, { headers, ...(signal === undefined ? {} : { signal }) });
    await expect(server.handle(request())).rejects.toThrow('fetch failed');
    await expect((await server.handle(request())).text()).rejects.toThrow('terminated');
    const stop = new AbortController();
    const stalled = server.handle(request(stop.signal));
    await server.waitForCalls('healthz', 3);
    stop.abort();
    await expect(stalled).rejects.toThrow();
    const later = new AbortController();
    const half = await server.handle(request(later.signal));
    const body = half.text();
    later.abort();
    await expect(body).rejects.toThrow();
    await expect((await server.handle(request())).json()).rejects.toThrow();
  });
});

describe('handle with a signal', () => {
  it('rejects as fetch does when the caller aborts, and makes no request when the caller aborted before', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('healthz').delay(60_000);
    const stop = new AbortController();
    const call = server.handle(new Request(`${server.url}/api/v1/healthz`, { headers, signal: stop.signal }));
    await server.waitForCalls('healthz', 1);
    stop.abort(new Error('no longer wanted'));
    await expect(call).rejects.toThrow('no longer wanted');
    const late = server.handle(new Request(`${server.url}/api/v1/healthz`, { headers, signal: stop.signal }));
    await expect(late).rejects.toThrow('no longer wanted');
    expect(server.count('healthz')).toBe(1);
  });

  it('ends a body that drips', async () => {
    const server = createTestServer({ engine: 'canned', clock: new VirtualClock() });
    server.on('healthz').fault('drip', { dripBytes: 5, dripMs: 1_000 });
    const stop = new AbortController();
    const response = await server.handle(new Request(`${server.url}/api/v1/healthz`, { headers, signal: stop.signal }));
    const text = response.text();
    stop.abort(new Error('no longer wanted'));
    await expect(text).rejects.toThrow('no longer wanted');
  });
});

describe('msw', () => {
  let network: ReturnType<typeof setupServer> | undefined;

  afterEach(() => {
    network?.close();
  });

  it('serves code that uses the global fetch, under any base URL', async () => {
    const server = createTestServer({ engine: 'canned' });
    network = setupServer(...handlers(server, { baseUrl: 'https://tinker.example/services/prod' }));
    network.listen({ onUnhandledRequest: 'error' });
    const response = await fetch('https://tinker.example/services/prod/api/v1/get_server_capabilities', { headers });
    expect(await response.json()).toEqual({
      supported_models: [{ model_name: 'tinkex/tiny', max_context_length: 32_768, trainable: true, sampleable: true }],
    });
    const own = await fetch(`${server.url}/api/v1/healthz`, { headers });
    expect(own.status).toBe(200);
    server.on('healthz').fault('close').once();
    await expect(fetch(`${server.url}/api/v1/healthz`, { headers })).rejects.toThrow();
    server.verify();
  });
});

describe('msw and a caller who aborts', () => {
  it('makes no noise', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('healthz').delay(60_000);
    const network = setupServer(...handlers(server));
    network.listen({ onUnhandledRequest: 'error' });
    const failures: unknown[] = [];
    network.events.on('unhandledException', ({ error }) => failures.push(error));
    const stop = new AbortController();
    const call = fetch(`${server.url}/api/v1/healthz`, { headers, signal: stop.signal });
    await server.waitForCalls('healthz', 1);
    stop.abort(new Error('no longer wanted'));
    await expect(call).rejects.toThrow('no longer wanted');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    network.close();
    expect(failures).toEqual([]);
  });
});

describe('msw under a base URL that is not written the way requests are', () => {
  it.each(['https://Tinker.Example/services/prod', 'https://tinker.example:443/services/prod', 'https://tinker.example/services/prod/'])(
    '%s',
    async (baseUrl) => {
      const server = createTestServer({ engine: 'canned', basePath: '/own' });
      const network = setupServer(...handlers(server, { baseUrl }));
      network.listen({ onUnhandledRequest: 'error' });
      const response = await fetch('https://tinker.example/services/prod/api/v1/healthz', { headers });
      network.close();
      expect(response.status).toBe(200);
    },
  );
});

describe('the memory transport', () => {
  it('serves the HTTP client of the SDK, faults and all', async () => {
    const clock = new VirtualClock();
    const server = createTestServer({ engine: 'canned', clock });
    const client = new HttpClient({
      baseUrl: server.url,
      transport: memoryTransport(server),
      clock,
      headers: { 'x-api-key': server.apiKey },
    });
    server.on('getServerCapabilities').fault('reset').times(2);
    const call = client.request({ method: 'GET', path: '/api/v1/get_server_capabilities', parse: ({ status }) => status });
    expect(await clock.runUntil(call)).toBe(200);
    expect(server.count('getServerCapabilities')).toBe(3);
    server.verify();
    await client.close();
  });

  it('is closed by close', async () => {
    const server = createTestServer({ engine: 'canned' });
    const transport = memoryTransport(server);
    await transport.close();
    const request = { method: 'GET', url: `${server.url}/api/v1/healthz`, headers, pool: 'x' };
    await expect(transport.send(request)).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('the loopback server', () => {
  it('serves the HTTP client of the SDK over real sockets', async () => {
    await using server = await startServer({ engine: 'canned' });
    const client = new HttpClient({ baseUrl: server.url, headers: { 'x-api-key': server.apiKey } });
    server.on('getServerCapabilities').fault('reset').once();
    const { attempts } = await client
      .request({ method: 'GET', path: '/api/v1/get_server_capabilities', parse: ({ status }) => status })
      .withMetadata();
    expect(attempts).toBe(2);
    server.verify();
    await client.close();
  });

  it('closes with everything open: held calls, polls, idle connections', async () => {
    const server = await startServer({ engine: 'canned' });
    const gate = server.gate('healthz');
    const held = fetch(`${server.url}/api/v1/healthz`, { headers });
    await gate.waitFor(1);
    const outcome = held.then(
      () => 'answered',
      () => 'broken',
    );
    await server.close();
    await server.close();
    expect(['answered', 'broken']).toContain(await outcome);
    expect(server.openSockets).toBe(0);
  });

  it('refuses impossible options', async () => {
    await expect(startServer({ longPollMs: -1 })).rejects.toThrow(/longPollMs must be a number >= 0/);
  });
});

describe('a test target', () => {
  it('is the loopback server by default, or the same in memory', async () => {
    await using loopback = await createTestTarget({ engine: 'canned' });
    await using memory = await createTestTarget({ engine: 'canned', kind: 'memory' });
    expect([loopback.kind, loopback.baseModel, loopback.clientOptions.baseUrl]).toEqual(['loopback', 'tinkex/tiny', loopback.server?.url]);
    expect(memory.clientOptions.transport).toBeDefined();
  });

  it('names a model of the engine it was given', async () => {
    const engine = learnEngine({ models: ['my/model'] });
    await using loopback = await createTestTarget({ engine });
    await using memory = await createTestTarget({ engine, kind: 'memory' });
    expect([loopback.baseModel, memory.baseModel]).toEqual(['my/model', 'my/model']);
  });

  it('is what the environment names', () => {
    expect(targetEnvironment({ TINKEX_TEST_BASE_URL: 'http://x', TINKEX_TEST_API_KEY: '' })).toEqual({
      target: undefined,
      baseUrl: 'http://x',
      apiKey: undefined,
      baseModel: undefined,
    });
  });

  it('says what a remote target lacks', async () => {
    await expect(createTestTarget({ kind: 'remote' })).rejects.toThrow(/TINKEX_TEST_BASE_URL/);
    await expect(createTestTarget({ kind: 'moon' as 'remote' })).rejects.toThrow(/no test target "moon"/);
  });
});
