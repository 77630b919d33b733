import { rateLimiterFor, ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { subscribe } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { startServer, type TestServer, type TestServerOptions, VirtualClock } from '@tinkex/testkit';
import { datum, ModelInput, RateLimitError } from '@tinkex/types';
import { afterEach, describe, expect, it } from 'vitest';
import { drive, turns } from '../support/drive.js';

const prompt = [5, 6, 7];
const samplingParams = { maxTokens: 2 };
const data = [datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } })];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer({ engine: 'canned', ...options });
  closing.push(() => server.close());
  return server;
}

function connect(clock: VirtualClock, options: ServiceClientOptions): ServiceClient {
  const service = new ServiceClient({ clock, random: () => 0.5, heartbeatIntervalMs: 3_600_000, telemetry: false, ...options });
  closing.push(() => service.close());
  return service;
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

describe('C. many clients', () => {
  it('C.1 one tenant in trouble does not delay another: 60 + 60 samples beside training', async () => {
    const clock = new VirtualClock();
    const [serverA, serverB] = [await serve(), await serve()];
    serverA.on('forwardBackward').reply(500).once();
    serverA.on('asample').reply(429, { retryAfterMs: 5_000 }).once();
    const serviceA = connect(clock, { baseUrl: serverA.url, apiKey: 'tml-tenant-a' });
    const serviceB = connect(clock, { baseUrl: serverB.url, apiKey: 'tml-tenant-b' });
    const limiterA = rateLimiterFor(serverA.url, 'tml-tenant-a', clock);
    const limiterB = rateLimiterFor(serverB.url, 'tml-tenant-b', clock);
    expect(limiterA).not.toBe(limiterB);

    const [trainingA, trainingB] = await Promise.all([
      serviceA.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 }),
      serviceB.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 }),
    ]);
    const [samplingA, samplingB] = await Promise.all([
      serviceA.createSamplingClient({ baseModel: 'tinkex/tiny' }),
      serviceB.createSamplingClient({ baseModel: 'tinkex/tiny' }),
    ]);
    const pollsBefore = { a: serverA.count('retrieveFuture'), b: serverB.count('retrieveFuture') };
    serverA.on('retrieveFuture').reply(500).once();

    await expect(samplingA.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    expect(limiterA.inspect().isBlocked).toBe(true);
    const samplesA = times(59, () => samplingA.sample({ prompt, samplingParams }).result());
    const samplesB = times(60, () => samplingB.sample({ prompt, samplingParams }).result());
    // B is through while A's backoff has not moved at all.
    await Promise.all(samplesB);
    expect(limiterA.inspect().isBlocked).toBe(true);
    expect(limiterB.inspect()).toMatchObject({ isBlocked: false, isThrottled: false, blockedForMs: 0 });
    expect(serverB.count('asample')).toBe(60);
    expect(serverA.count('asample')).toBe(1);

    const training = [trainingA, trainingB].flatMap((client) => [
      client.forwardBackward(data, 'cross_entropy').result(),
      client.optimStep().result(),
    ]);
    await drive(clock, Promise.all([...training, ...samplesA]));
    expect(serverA.count('asample')).toBe(60);
    // After its 500 the body is offered as JSON, which this server does not take, and then sent again.
    expect(serverA.callsTo('forwardBackward').map(({ status }) => status)).toEqual([500, 415, 200]);
    expect(serverB.count('forwardBackward')).toBe(1);
    expect([serverA.count('optimStep'), serverB.count('optimStep')]).toEqual([1, 1]);
    // A polls for 59 samples and 2 training calls, one of them twice after its 500; B for 60 and 2.
    expect(serverA.count('retrieveFuture') - pollsBefore.a).toBe(59 + 2 + 1);
    expect(serverB.count('retrieveFuture') - pollsBefore.b).toBe(60 + 2);
    expect(limiterA.inspect()).toMatchObject({ isBlocked: false, waiting: 0 });
    serverA.verify();
    serverB.verify();
  });

  it('C.2 the limiter belongs to a URL and a key, however the URL is spelt', async () => {
    const clock = new VirtualClock();
    const server = await serve();
    const other = await serve();
    const variants = [server.url, `${server.url}/`, server.url.replace('http://', 'HTTP://')];
    server.on('asample').reply(429, { retryAfterMs: 1_000 }).once();
    const clients = await Promise.all(
      variants.map((baseUrl) => connect(clock, { baseUrl, apiKey: 'tml-shared' }).createSamplingClient({ baseModel: 'tinkex/tiny' })),
    );
    const otherKey = await connect(clock, { baseUrl: server.url, apiKey: 'tml-else' }).createSamplingClient({ baseModel: 'tinkex/tiny' });
    const otherUrl = await connect(clock, { baseUrl: other.url, apiKey: 'tml-shared' }).createSamplingClient({ baseModel: 'tinkex/tiny' });

    await expect(clients[0]?.sample({ prompt, samplingParams })).rejects.toBeInstanceOf(RateLimitError);
    const held = clients.map((client) => client.sample({ prompt, samplingParams }).result());
    await otherKey.sample({ prompt, samplingParams });
    await otherUrl.sample({ prompt, samplingParams });
    await turns(30);
    // One refused call, and the one with another key: the three with the shared key wait.
    expect(server.count('asample')).toBe(2);
    expect(other.count('asample')).toBe(1);
    for (const baseUrl of variants)
      expect(rateLimiterFor(baseUrl, 'tml-shared', clock)).toBe(rateLimiterFor(server.url, 'tml-shared', clock));
    expect(rateLimiterFor(server.url, 'tml-shared', clock).inspect().waiting).toBe(3);
    await clock.advance(1_000);
    await Promise.all(held);
    expect(server.count('asample')).toBe(5);
    server.verify();
  });

  it('C.3 telemetry sees both tenants and no key; detaching ends it; a throwing subscriber changes nothing', async () => {
    const clock = new VirtualClock();
    const servers = [await serve(), await serve()];
    const keys = ['tml-secret-of-a', 'tml-secret-of-b'];
    const lines: string[] = [];
    const note = (message: string, fields: unknown) => void lines.push(JSON.stringify([message, fields]));
    const logger = attachLogger({ level: 'debug', sink: { debug: note, info: note, warn: note, error: note } });
    const metrics = attachMetrics();
    let thrown = 0;
    const stopThrowing = subscribe('tinkex:http:request:stop', () => {
      thrown += 1;
      throw new Error('a broken subscriber');
    });
    const clients = await Promise.all(
      servers.map((server, index) =>
        connect(clock, { baseUrl: server.url, apiKey: keys[index] ?? '' }).createSamplingClient({ baseModel: 'tinkex/tiny' }),
      ),
    );
    await Promise.all(clients.flatMap((client) => times(30, () => client.sample({ prompt, samplingParams }).result())));

    // Each sample is at least a submission and a poll.
    expect(metrics.total('tinkex_http_requests_total')).toBeGreaterThanOrEqual(120);
    expect(thrown).toBeGreaterThanOrEqual(120);
    expect(lines.length).toBeGreaterThanOrEqual(120);
    const everything = lines.join('\n') + metrics.prometheus() + JSON.stringify(metrics.snapshot());
    for (const { url } of servers) expect(everything).toContain(url);
    for (const key of keys) expect(everything).not.toContain(key);

    stopThrowing();
    logger.detach();
    metrics.detach();
    const before = { lines: lines.length, requests: metrics.total('tinkex_http_requests_total') };
    await clients[0]?.sample({ prompt, samplingParams });
    expect({ lines: lines.length, requests: metrics.total('tinkex_http_requests_total') }).toEqual(before);
  });

  it('C.3 reports to the service belong to one client: closing another does not stop them', async () => {
    const clock = new VirtualClock();
    const server = await serve();
    const [closed, open] = times(2, () => connect(clock, { ...server.clientOptions, telemetry: true }));
    await closed?.sessionId();
    const sessionId = await open?.sessionId();
    await drive(clock, Promise.resolve(closed?.close()));
    const before = server.count('telemetry');
    const training = await open?.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
    server.on('optimStep').fail({ error: 'a GPU died', category: 'server' }).once();
    await expect(training?.optimStep()).rejects.toThrow('a GPU died');
    await drive(clock, Promise.resolve(open?.close()));
    const late = server.callsTo('telemetry').slice(before);
    expect(new Set(late.map(({ request }) => request.sessionId))).toEqual(new Set([sessionId]));
    expect(JSON.stringify(late.map(({ request }) => request.events))).toContain('a GPU died');
    server.verify();
  });

  it('C.5 close() in the middle of everything: waits reject, heartbeats stop, nothing is left', async () => {
    const clock = new VirtualClock();
    const server = await serve();
    const service = connect(clock, { ...server.clientOptions, heartbeatIntervalMs: 1_000 });
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
    await clock.advance(1_000);
    await server.waitForCalls('sessionHeartbeat', 1);

    server.on('asample').reply(429, { retryAfterMs: 30_000 }).once();
    const gates = [server.gate('forwardBackward', { at: 'execution' }), server.gate('asample', { at: 'execution' })];
    const waits = [
      training.forwardBackward(data, 'cross_entropy').result(),
      training.optimStep().result(),
      ...times(20, () => sampling.sample({ prompt, samplingParams }).result()),
      service.createRestClient().exportSessionTrace('no-such-session'),
    ];
    const outcomes = Promise.allSettled(waits);
    await server.waitForCalls('asample', 1);
    await server.waitForCalls('retrieveFuture', 1);
    await service.close();
    for (const outcome of (await outcomes).slice(0, -1))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
    for (const gate of gates) gate.open();

    const heartbeats = server.count('sessionHeartbeat');
    await clock.advance(10_000);
    await turns(20);
    expect(server.count('sessionHeartbeat')).toBe(heartbeats);
    expect(clock.pending).toBe(0);
    await expect(sampling.sample({ prompt, samplingParams })).rejects.toMatchObject({ name: 'AbortError' });
    expect(rateLimiterFor(server.url, server.apiKey, clock).inspect().waiting).toBe(0);
  });
});
