import { setupServer } from 'msw/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planDelivery } from '../src/faults/faults.js';
import { createTestServer, FAULT_KINDS, memoryTransport, startServer, type TestServer, VirtualClock } from '../src/index.js';
import { handlers } from '../src/msw/index.js';

interface Front {
  readonly server: TestServer;
  /** The text of the answer to `GET healthz`. */
  readonly get: () => Promise<string>;
  readonly end: () => Promise<void>;
}

/** The same server behind each of its fronts. */
const fronts: Readonly<Record<string, (clock: VirtualClock) => Promise<Front>>> = {
  loopback: async (clock) => {
    const server = await startServer({ engine: 'canned', clock });
    return { server, get: async () => (await fetch(`${server.url}/api/v1/healthz`)).text(), end: async () => undefined };
  },
  handle: async (clock) => {
    const server = createTestServer({ engine: 'canned', clock });
    const get = async (): Promise<string> => (await server.handle(new Request(`${server.url}/api/v1/healthz`))).text();
    return { server, get, end: async () => undefined };
  },
  msw: async (clock) => {
    const server = createTestServer({ engine: 'canned', clock });
    const network = setupServer(...handlers(server));
    network.listen({ onUnhandledRequest: 'error' });
    return { server, get: async () => (await fetch(`${server.url}/api/v1/healthz`)).text(), end: async () => network.close() };
  },
  'memory transport': async (clock) => {
    const server = createTestServer({ engine: 'canned', clock });
    const transport = memoryTransport(server);
    const get = async (): Promise<string> => {
      const { body } = await transport.send({ method: 'GET', url: `${server.url}/api/v1/healthz`, headers: {}, pool: 'p' });
      return Buffer.from(await body.bytes()).toString();
    };
    return { server, get, end: () => transport.close() };
  },
};

describe.each(Object.entries(fronts))('%s', (_name, open) => {
  let clock: VirtualClock;
  let front: Front;

  beforeEach(async () => {
    clock = new VirtualClock();
    front = await open(clock);
  });

  afterEach(async () => {
    await front.server.close();
    await front.end();
  });

  it('refuses connections until it accepts them again', async () => {
    const { server, get } = front;
    await server.refuseConnections();
    await expect(get()).rejects.toThrow();
    await server.acceptConnections();
    expect(JSON.parse(await get())).toEqual({ status: 'ok' });
    expect(server.count('healthz')).toBe(1);
  });

  it.each(['dropConnections', 'refuseConnections', 'close'] as const)('loses the calls in flight by %s', async (end) => {
    const { server, get } = front;
    const gate = server.gate('healthz');
    const call = get().then(
      () => 'answered',
      () => 'lost',
    );
    await gate.waitFor(1);
    await server[end]();
    expect(await call).toBe('lost');
    expect(gate.waiting).toBe(0);
  });

  it.each(FAULT_KINDS)('delivers a reply with %s as the table of faults says', async (kind) => {
    const { server, get } = front;
    const { body, end } = planDelivery(Buffer.from(await get()), { kind });
    server.on('healthz').fault(kind, { moment: 'after' });
    const call = get().catch(() => 'lost');
    while (server.count('healthz') === 1 || server.inFlight() > 0) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (end === 'stall') server.dropConnections();
    expect(await clock.runUntil(call)).toBe(end === 'complete' ? Buffer.from(body).toString() : 'lost');
  });

  it('drips on the clock of the server', async () => {
    const { server, get } = front;
    server.on('healthz').fault('drip', { dripBytes: 5, dripMs: 1_000 });
    const startMs = clock.elapsedMs;
    expect(JSON.parse(await clock.runUntil(get()))).toEqual({ status: 'ok' });
    expect(clock.elapsedMs - startMs).toBe(2_000);
  });

  it('loses a call whose answer drips', async () => {
    const { server, get } = front;
    server.on('healthz').fault('drip', { dripBytes: 5, dripMs: 1_000 });
    const call = get().then(
      () => 'answered',
      () => 'lost',
    );
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    server.dropConnections();
    expect(await clock.runUntil(call)).toBe('lost');
  });

  it('refuses everything once it is closed', async () => {
    const { server, get } = front;
    await server.close();
    await expect(get()).rejects.toThrow();
  });
});
