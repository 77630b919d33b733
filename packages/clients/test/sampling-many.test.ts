import { rateLimiterFor, ServiceClient } from '@tinkex/clients';
import { createResponse, type Transport, type TransportResponse } from '@tinkex/http';
import { serverProtobuf, startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { turns } from './support/drive.js';
import { heapAfterCollection } from './support/heap.js';

const result = serverProtobuf.sampleResponse.encode({
  sequences: [{ tokens: Int32Array.of(1), stopReason: 'length' }],
  promptCacheHitTokens: 0,
});

/** A server that takes everything and answers polls only on request. Counts what is open at the same time. */
class SlowServer implements Transport {
  submissions = 0;
  openSubmissions = 0;
  mostSubmissions = 0;
  openPolls = 0;
  mostPolls = 0;
  readonly #held: (() => void)[] = [];
  #isOpen = false;

  async send({ url }: Parameters<Transport['send']>[0]): Promise<TransportResponse> {
    if (url.endsWith('/asample')) return this.#submit();
    if (url.endsWith('/retrieve_future')) return this.#poll();
    if (url.endsWith('/create_session')) return createResponse({ body: { session_id: 's' } });
    if (url.endsWith('/create_sampling_session')) return createResponse({ body: { sampling_session_id: 's:sample:0' } });
    return createResponse({ body: {} });
  }

  async close() {
    // Nothing is held.
  }

  /** Answers what is held, a few hundred at a time, and everything from now on. */
  release(): void {
    this.#isOpen = true;
    for (const answer of this.#held.splice(0)) answer();
  }

  get held(): number {
    return this.#held.length;
  }

  async #submit(): Promise<TransportResponse> {
    this.submissions += 1;
    this.openSubmissions += 1;
    this.mostSubmissions = Math.max(this.mostSubmissions, this.openSubmissions);
    await turns(1);
    this.openSubmissions -= 1;
    return createResponse({ body: { request_id: `r-${this.submissions}` } });
  }

  async #poll(): Promise<TransportResponse> {
    this.openPolls += 1;
    this.mostPolls = Math.max(this.mostPolls, this.openPolls);
    if (!this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#held.push(resolve);
      });
    }
    this.openPolls -= 1;
    return createResponse({ headers: { 'content-type': 'application/x-protobuf' }, body: result });
  }
}

const COUNT = 10_000;
/** The promise of the project: what a pending call may cost beyond what the network layer holds for it. About half of it is used. */
const MAX_HEAP_BYTES_EACH = 8 * 1024;

describe('10,000 concurrent samples against a fast server', () => {
  it('are sent as they come back, not all at the start', async () => {
    const server = new SlowServer();
    server.release();
    await using service = new ServiceClient({ baseUrl: 'http://fast.test', apiKey: 'k', transport: server, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'm' });
    let [answered, mostUnderWay] = [0, 0];
    const calls = Array.from({ length: COUNT }, async () => {
      await sampling.sample({ prompt: [1, 2, 3], samplingParams: { maxTokens: 1 } });
      answered += 1;
      mostUnderWay = Math.max(mostUnderWay, server.submissions - answered);
    });
    await Promise.all(calls);
    expect(server.submissions).toBe(COUNT);
    expect(mostUnderWay).toBeLessThan(200);
  });
});

describe('10,000 concurrent samples against a slow server', () => {
  it('are bounded on the wire and in memory, and all come back', async () => {
    const server = new SlowServer();
    await using service = new ServiceClient({ baseUrl: 'http://slow.test', apiKey: 'k', transport: server, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'm' });
    const before = heapAfterCollection();
    const calls = Array.from({ length: COUNT }, () => sampling.sample({ prompt: [1, 2, 3], samplingParams: { maxTokens: 1 } }).result());
    while (server.held < 2_000) await turns(10);
    await turns(50);
    // 2,000 calls are in progress, 8,000 wait in the queue: neither has sent anything more, nor holds a connection.
    expect(server.held).toBe(2_000);
    expect(server.submissions).toBe(2_000);
    expect(server.mostSubmissions).toBeLessThanOrEqual(400);
    expect((heapAfterCollection() - before) / COUNT).toBeLessThan(MAX_HEAP_BYTES_EACH);
    server.release();
    const responses = await Promise.all(calls);
    expect(responses).toHaveLength(COUNT);
    expect(server.submissions).toBe(COUNT);
    expect(server.mostPolls).toBeLessThanOrEqual(2_000);
    expect(rateLimiterFor('http://slow.test', 'k').inspect()).toMatchObject({ isBlocked: false, waiting: 0 });
  });

  it('use no more sockets than the limits allow; closing the client in the middle rejects the rest and leaves no socket', async () => {
    await using server = await startServer({ engine: 'canned' });
    const gate = server.gate('asample', { at: 'execution' });
    const limits = { maxConcurrentSamples: 100, maxConcurrentSampleSubmissions: 40 };
    await using service = new ServiceClient({ ...server.clientOptions, limits, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    let answered = 0;
    const calls = Array.from({ length: COUNT }, async () => {
      await sampling.sample({ prompt: [1, 2, 3], samplingParams: { maxTokens: 1 } });
      answered += 1;
    });
    const outcomes = Promise.allSettled(calls);
    await server.waitForCalls('retrieveFuture', 100);
    await turns(20);
    expect(server.count('asample')).toBe(100);
    gate.open();
    let mostSockets = 0;
    // Ten times what may be in progress at the same time: each socket and each place in the queue has been used again and again.
    while (answered < 1_000) {
      mostSockets = Math.max(mostSockets, server.openSockets);
      await turns(5);
    }
    expect(server.maxConcurrency('asample')).toBeLessThanOrEqual(40);
    expect(server.maxConcurrency('retrieveFuture')).toBeLessThanOrEqual(100);
    // Submissions, polls, and the few of the session; a pool may open a second connection while a first is being freed.
    expect(mostSockets).toBeLessThanOrEqual(2 * (40 + 100) + 10);

    await service.close();
    const rejected = (await outcomes).filter((outcome) => outcome.status === 'rejected');
    expect(rejected).toHaveLength(COUNT - answered);
    expect(new Set(rejected.map(({ reason }) => (reason as Error).name))).toEqual(new Set(['AbortError']));
    await expect(sampling.sample({ prompt: [1] })).rejects.toMatchObject({ name: 'AbortError' });
    while (server.openSockets > 0) await turns(5);
    server.verify();
  });

  it('are all rejected when the client is closed while the server holds everything', async () => {
    const server = new SlowServer();
    const service = new ServiceClient({ baseUrl: 'http://slow.test', apiKey: 'k', transport: server, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'm' });
    const calls = Array.from({ length: 3_000 }, () => sampling.sample({ prompt: [1], samplingParams: { maxTokens: 1 } }).result());
    while (server.held < 2_000) await turns(10);
    await service.close();
    const outcomes = await Promise.allSettled(calls);
    const names = new Set(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.name : 'fulfilled')));
    expect(names).toEqual(new Set(['AbortError']));
    server.release();
  });
});
