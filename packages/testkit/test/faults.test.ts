import { createConnection } from 'node:net';
import { ConnectionError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { createTestServer, DEFAULT_CHAOS_KINDS, type FaultKind, memoryTransport, startServer, type TestServer } from '../src/index.js';
import { rawTest } from './fixture.js';
import { RawClient } from './raw-client.js';

/** Sends a request by hand and collects what comes until the connection ends, or until `until` bytes were seen. */
async function rawExchange(server: TestServer, until = Number.POSITIVE_INFINITY): Promise<{ text: string; end: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    let text = '';
    const finish = (end: string): void => {
      socket.destroy();
      resolve({ text, end });
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.length >= until) finish('enough');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'error'));
    socket.on('end', () => finish('end'));
    socket.write(`GET /api/v1/get_server_capabilities HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.apiKey}\r\n\r\n`);
  });
}

/** The promised and the received length of the body. */
function lengths(text: string): { readonly promised: number; readonly received: number } {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { promised: Number(/content-length: (\d+)/.exec(head)?.[1]), received: body.length };
}

describe('socket faults over loopback', () => {
  rawTest('close ends the connection without a byte', async ({ server }) => {
    server.on('getServerCapabilities').fault('close').once();
    expect(await rawExchange(server)).toEqual({ text: '', end: 'end' });
  });

  rawTest('reset resets it', async ({ server }) => {
    server.on('getServerCapabilities').fault('reset').once();
    expect(await rawExchange(server)).toEqual({ text: '', end: 'ECONNRESET' });
  });

  rawTest('reset-all resets the connections of other calls, too', async ({ server }) => {
    server.on('getServerCapabilities').fault('stall').once();
    server.on('getServerCapabilities').fault('reset-all').once();
    const other = rawExchange(server);
    await server.waitForCalls('getServerCapabilities', 1);
    expect(await rawExchange(server)).toEqual({ text: '', end: 'ECONNRESET' });
    expect(await other).toEqual({ text: '', end: 'ECONNRESET' });
  });

  rawTest('reset-headers breaks off in the head', async ({ server }) => {
    server.on('getServerCapabilities').fault('reset-headers').once();
    const { text, end } = await rawExchange(server);
    expect(['ECONNRESET', 'end']).toContain(end);
    expect(text).not.toContain('\r\n\r\n');
  });

  rawTest('reset-body breaks off in the body', async ({ server }) => {
    server.on('getServerCapabilities').fault('reset-body', { moment: 'after' }).once();
    const { text, end } = await rawExchange(server);
    expect(['ECONNRESET', 'end']).toContain(end);
    expect(text === '' || lengths(text).received < lengths(text).promised).toBe(true);
  });

  rawTest('truncate ends early but in order', async ({ server }) => {
    server.on('getServerCapabilities').fault('truncate', { moment: 'after' }).once();
    const { text, end } = await rawExchange(server);
    const { promised, received } = lengths(text);
    expect(end).toBe('end');
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(promised);
  });

  rawTest('stall sends nothing and keeps the connection', async ({ server }) => {
    server.on('getServerCapabilities').fault('stall').once();
    const exchange = rawExchange(server);
    await server.waitForCalls('getServerCapabilities', 1);
    expect(server.openSockets).toBe(1);
    server.dropConnections();
    expect(await exchange).toEqual({ text: '', end: 'ECONNRESET' });
  });

  rawTest('stall-body sends half and keeps the connection', async ({ server }) => {
    server.on('getServerCapabilities').fault('stall-body', { moment: 'after' }).once();
    const { text } = await rawExchange(server, 60);
    expect(text).toContain('HTTP/1.1 200');
  });

  rawTest('drip sends everything, slowly', async ({ clock, server, client }) => {
    server.on('getServerCapabilities').fault('drip', { dripBytes: 4, dripMs: 100 }).once();
    const startMs = clock.elapsedMs;
    const { json } = await clock.runUntil(client.get('get_server_capabilities'));
    expect(json.supported_models).toHaveLength(1);
    expect(clock.elapsedMs - startMs).toBeGreaterThan(1_000);
  });

  rawTest('corrupt sends a whole reply that nobody can read', async ({ server }) => {
    server.on('getServerCapabilities').fault('corrupt').once();
    const response = await fetch(`${server.url}/api/v1/get_server_capabilities`, { headers: { 'x-api-key': server.apiKey } });
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow();
  });

  rawTest('refused connections are refused by the operating system', async ({ server, client }) => {
    await server.refuseConnections();
    await expect(client.get('healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.acceptConnections();
    expect((await client.get('healthz')).status).toBe(200);
  });

  rawTest('before loses the request, after loses the reply', async ({ server, client }) => {
    server.on('createSession').fault('reset', { moment: 'before' }).once();
    server.on('createSession').fault('reset', { moment: 'after' }).once();
    await expect(client.createSession()).rejects.toThrow();
    await expect(client.createSession()).rejects.toThrow();
    expect((await client.get('sessions')).json.sessions).toHaveLength(1);
    expect(server.callsTo('createSession').map(({ fault }) => fault)).toEqual(['reset', 'reset']);
  });
});

describe('socket faults in memory', () => {
  const request = (server: TestServer): Parameters<ReturnType<typeof memoryTransport>['send']>[0] => ({
    method: 'GET',
    url: `${server.url}/api/v1/get_server_capabilities`,
    headers: { 'x-api-key': server.apiKey },
    pool: 'train',
  });

  it.for<FaultKind>(['close', 'reset', 'reset-all', 'reset-headers'])('%s rejects with a connection error', async (kind) => {
    const server = createTestServer({ engine: 'canned' });
    server.on('getServerCapabilities').fault(kind).once();
    await expect(memoryTransport(server).send(request(server))).rejects.toBeInstanceOf(ConnectionError);
  });

  it.for<FaultKind>(['reset-body', 'truncate'])('%s rejects when the body is read', async (kind) => {
    const server = createTestServer({ engine: 'canned' });
    server.on('getServerCapabilities').fault(kind, { moment: 'after' }).once();
    const response = await memoryTransport(server).send(request(server));
    expect(response.status).toBe(200);
    await expect(response.body.bytes()).rejects.toBeInstanceOf(ConnectionError);
  });

  it.for<FaultKind>(['stall', 'stall-body'])('%s lasts until the call is aborted', async (kind) => {
    const server = createTestServer({ engine: 'canned' });
    server.on('getServerCapabilities').fault(kind, { moment: 'after' }).once();
    const stop = new AbortController();
    const call = memoryTransport(server)
      .send({ ...request(server), signal: stop.signal })
      .then(({ body }) => body.bytes());
    await server.waitForCalls('getServerCapabilities', 1);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toMatchObject({ code: 'TINKEX_ABORTED' });
  });

  it('corrupt and drip deliver', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('getServerCapabilities').fault('corrupt').once();
    server.on('getServerCapabilities').fault('drip').once();
    const transport = memoryTransport(server);
    const damaged = await (await transport.send(request(server))).body.bytes();
    const whole = await (await transport.send(request(server))).body.bytes();
    expect(damaged).toHaveLength(whole.length);
    expect(damaged[0]).not.toBe(whole[0]);
  });

  it('refusing and closing reject with connection refused', async () => {
    const server = createTestServer({ engine: 'canned' });
    const transport = memoryTransport(server);
    await server.refuseConnections();
    await expect(transport.send(request(server))).rejects.toThrow(/refused/);
    await server.acceptConnections();
    expect((await transport.send(request(server))).status).toBe(200);
    await server.close();
    await expect(transport.send(request(server))).rejects.toThrow(/refused/);
  });
});

describe('chaos', () => {
  /** Ten calls of each of five operations, in an order that the caller chooses; which tries met which fault. */
  async function faultsOf(
    seed: number,
    order: (calls: [string, number][]) => [string, number][],
  ): Promise<Map<string, string | undefined>> {
    const server = createTestServer({ engine: 'canned' });
    server.chaos({ seed, rate: 0.5, maxFaultsPerOperation: 5 });
    const tries: [string, number][] = Array.from({ length: 50 }, (_, index) => [`s${index % 5}`, Math.floor(index / 5)]);
    const seen = new Map<string, string | undefined>();
    const counts = new Map<string, number>();
    for (const [samplerId] of order(tries)) {
      const answered = server.handle(
        new Request(`${server.url}/api/v1/samplers/${samplerId}`, { headers: { 'x-api-key': server.apiKey } }),
      );
      await answered.then(
        () => undefined,
        () => undefined,
      );
      const attempt = counts.get(samplerId) ?? 0;
      counts.set(samplerId, attempt + 1);
      seen.set(`${samplerId} ${attempt}`, server.calls.at(-1)?.fault);
    }
    return seen;
  }

  it('decides by seed and operation, not by the order of things', async () => {
    const forwards = await faultsOf(3, (calls) => calls);
    const interleaved = await faultsOf(3, (calls) => [...calls].sort(([left], [right]) => left.localeCompare(right)));
    expect(new Map([...interleaved].sort())).toEqual(new Map([...forwards].sort()));
    expect(await faultsOf(4, (calls) => calls)).not.toEqual(forwards);
    expect([...forwards.values()].filter((fault) => fault !== undefined).length).toBeGreaterThan(10);
  });

  it('strikes about as often as its rate says, with every kind, before and after the work', async () => {
    const server = createTestServer({ engine: 'canned' });
    const chaos = server.chaos({ seed: 1, rate: 0.3 });
    let created = 0;
    for (let index = 0; index < 1_000; index++) {
      const body = JSON.stringify({ tags: [String(index)], user_metadata: {}, sdk_version: '0.25.0' });
      const headers = { 'x-api-key': server.apiKey, 'content-type': 'application/json', 'x-idempotency-key': String(index) };
      const request = new Request(`${server.url}/api/v1/create_session`, { method: 'POST', headers, body });
      await server.handle(request).catch(() => undefined);
      created = server.callsTo('createSession').length;
    }
    expect(created).toBe(1_000);
    expect(chaos.faults).toBeGreaterThan(230);
    expect(chaos.faults).toBeLessThan(370);
    expect(new Set(server.calls.flatMap(({ fault }) => fault ?? []))).toEqual(new Set(DEFAULT_CHAOS_KINDS));
    chaos.stop();
    const listed = await server.handle(
      new Request(`${server.url}/api/v1/sessions?limit=5000`, { headers: { 'x-api-key': server.apiKey } }),
    );
    const { sessions } = (await listed.json()) as { sessions: string[] };
    expect(sessions.length).toBeGreaterThan(1_000 - chaos.faults);
    expect(sessions.length).toBeLessThan(1_000);
  });

  it('gives every operation a way through, and leaves other routes alone', async () => {
    await using server = await startServer({ engine: 'canned' });
    const client = new RawClient(server);
    server.chaos({ seed: 5, rate: 1, maxFaultsPerOperation: 2, kinds: ['status-500'], routes: ['getSampler'] });
    const statuses = [];
    for (let index = 0; index < 4; index++) statuses.push((await client.get('samplers/x')).status);
    expect(statuses).toEqual([500, 500, 404, 404]);
    expect((await client.get('healthz')).status).toBe(200);
    await client.close();
  });

  it('gives the statuses it was configured with', async () => {
    await using server = await startServer({ engine: 'canned' });
    const client = new RawClient(server);
    for (const [kind, status] of [
      ['status-400-blank', 400],
      ['status-402', 402],
      ['status-408', 408],
      ['status-410', 410],
      ['status-429', 429],
      ['status-503', 503],
    ] as const) {
      server.chaos({ seed: 1, rate: 1, kinds: [kind] });
      const answer = await client.get('healthz');
      expect(answer.status).toBe(status);
      expect(answer.headers['content-length'] === '0').toBe(kind === 'status-400-blank');
    }
    await client.close();
  });

  it('loses a reply and answers the repeat with 409', async () => {
    await using server = await startServer({ engine: 'canned' });
    const client = new RawClient(server);
    server.chaos({ seed: 1, rate: 1, maxFaultsPerOperation: 1, kinds: ['status-409'], routes: ['healthz'] });
    await expect(client.get('healthz')).rejects.toThrow();
    const statuses = [(await client.get('healthz')).status, (await client.get('healthz')).status];
    expect(statuses).toEqual([409, 200]);
    expect(server.callsTo('healthz').map(({ fault }) => fault)).toEqual(['close', 'status-409', undefined]);
    await client.close();
  });

  rawTest('delays calls on the clock', async ({ clock, server, client }) => {
    server.chaos({ seed: 1, rate: 0, maxDelayMs: 1_000 });
    const call = client.get('healthz');
    await clock.waitForTimers(1);
    await clock.advance(1_000);
    expect((await call).status).toBe(200);
  });

  it('refuses impossible options', () => {
    const server = createTestServer({ engine: 'canned' });
    expect(() => server.chaos({ seed: 1, rate: 2 })).toThrow(RangeError);
    expect(() => server.chaos({ seed: 1, kinds: [] })).toThrow(RangeError);
    expect(() => server.on('healthz').fault('rest' as FaultKind)).toThrow(
      'There is no fault "rest"; did you mean reset? Choose one of close, reset,',
    );
  });
});
