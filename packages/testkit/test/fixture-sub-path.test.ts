import { HttpClient } from '@tinkex/http';
import { describe, expect, it, vi } from 'vitest';
import { leaksOf, timersThatWait } from '../src/fixture/leaks.js';
import { memoryTransport, startServer, VirtualClock } from '../src/index.js';
import { tinkexTest } from '../src/vitest/index.js';
import { optimBody, RawClient } from './raw-client.js';

describe('tinkexTest', () => {
  tinkexTest.override({ serverOptions: { engine: 'canned' } });

  tinkexTest('gives a fresh server, its client options and a virtual clock', async ({ server, clientOptions, clock }) => {
    expect(server.calls).toEqual([]);
    expect(clientOptions).toMatchObject({ baseUrl: server.url, apiKey: server.apiKey, clock });
    expect(server.clock).toBe(clock);
    const client = new HttpClient({ ...clientOptions, headers: { 'x-api-key': clientOptions.apiKey } });
    server.expect('healthz').once();
    expect(await client.request({ method: 'GET', path: '/api/v1/healthz', parse: ({ status }) => status })).toBe(200);
    await client.close();
  });

  tinkexTest('does not blame a closed client for what the server has left to do', async ({ server }) => {
    const client = new RawClient(server);
    const modelId = await client.createModel(await client.createSession());
    await client.post('optim_step', optimBody(modelId, 2)); // number 1 never comes: the server waits for it
    server.on('healthz').delay(1_000);
    const stop = new AbortController();
    const call = client.get('healthz', { signal: stop.signal }).catch(() => 'aborted');
    await server.waitForCalls('healthz', 1);
    stop.abort();
    expect(await call).toBe('aborted');
    await client.close();
  });

  tinkexTest('does not blame a client in memory for an answer that drips on without it', async ({ server, clock }) => {
    server.on('healthz').fault('drip', { dripBytes: 5, dripMs: 1_000 });
    const stop = new AbortController();
    const request = { method: 'GET', url: `${server.url}/api/v1/healthz`, headers: {}, pool: 'p', signal: stop.signal };
    const { body } = await memoryTransport(server).send(request);
    const read = body.bytes();
    await vi.waitUntil(() => clock.pending === 1);
    stop.abort();
    await expect(read).rejects.toThrow('aborted');
  });

  tinkexTest.fails('fails a test whose client breaks the protocol', async ({ server }) => {
    await fetch(`${server.url}/api/v1/nowhere`, { headers: { connection: 'close' } });
  });

  tinkexTest.fails('fails a test whose expectation is not met', async ({ server }) => {
    server.expect('asample').once();
  });
});

describe('a test that times out', () => {
  it('hears about timers that wait on the virtual clock', () => {
    expect(timersThatWait(2)).toMatch(/timed out while 2 timers wait on the virtual clock.*clock\.runUntil/);
    expect(timersThatWait(0)).toBeUndefined();
  });
});

describe('the leak check', () => {
  it('finds open connections, calls and timers, and nothing after they end', async () => {
    const clock = new VirtualClock();
    await using server = await startServer({ engine: 'canned', clock });
    const gate = server.gate('healthz');
    const client = new HttpClient({ baseUrl: server.url, headers: { 'x-api-key': server.apiKey } });
    const call = Promise.resolve(client.request({ method: 'GET', path: '/api/v1/healthz', parse: ({ status }) => status }));
    await gate.waitFor(1);
    expect(await leaksOf(server, clock)).toEqual(['1 calls in flight', '1 open connections']);
    gate.open();
    expect(await call).toBe(200);
    const timer = clock.setTimeout(() => undefined, 1_000);
    await client.close();
    expect(await leaksOf(server, clock)).toEqual(['1 timers on the virtual clock']);
    clock.clearTimeout(timer);
    expect(await leaksOf(server, clock)).toEqual([]);
  });
});
