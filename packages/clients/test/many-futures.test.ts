import { describe, expect, it } from 'vitest';
import type { ApiFuture, FutureHandle } from '../src/index.js';
import { heapAfterCollection } from './support/heap.js';
import { miniServer } from './support/mini-server.js';
import { never, type ScriptedAnswer } from './support/scripted-transport.js';

const COUNT = 10_000;
const handle = (index: number): FutureHandle<'OptimStep'> => ({
  kind: 'tinkex.future',
  version: 1,
  requestType: 'OptimStep',
  requestIds: [`r${index}`],
});

describe('10,000 pending futures', () => {
  it('hold a bounded number of polls and timers, and do nothing while the server holds the polls', async () => {
    const server = miniServer({}, { limits: { maxConcurrentPolls: 500 } });
    const release: ((answer: ScriptedAnswer) => void)[] = [];
    server.routes.set('retrieve_future', () => new Promise((resolve) => release.push(resolve)));
    const futures: ApiFuture<unknown>[] = Array.from({ length: COUNT }, (_, index) => server.service.futures.attach(handle(index)));
    await server.clock.advance(1);
    const polls = () => server.transport.of('retrieve_future').length;
    expect(polls()).toBe(500);
    expect(server.clock.pending).toBeLessThanOrEqual(500);
    await server.clock.advance(40_000);
    expect(polls()).toBe(500);
    expect(server.clock.pending).toBeLessThanOrEqual(500);
    for (let round = 0; release.length > 0 && round < COUNT; round += 1) {
      for (const answer of release.splice(0)) answer({ body: {} });
      await server.clock.advance(0);
    }
    await Promise.all(futures);
    expect(polls()).toBe(COUNT);
    expect(server.clock.pending).toBe(0);
    await server.service.close();
  });

  it('poll a server that holds nothing at most about 2,000 times a second in all', async () => {
    const server = miniServer();
    server.routes.set('retrieve_future', () => ({ status: 408, body: {} }));
    const futures = Array.from({ length: 400 }, (_, index) => server.service.futures.attach(handle(index)));
    await server.clock.advance(5_000);
    const before = server.transport.of('retrieve_future').length;
    await server.clock.advance(2_000);
    const perSecond = (server.transport.of('retrieve_future').length - before) / 2;
    // 400 futures at the slowest floor of one poll a second.
    expect(perSecond).toBeGreaterThan(0);
    expect(perSecond).toBeLessThanOrEqual(440);
    const outcomes = Promise.allSettled(futures);
    await server.service.close();
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('cost less than 4 KiB of heap each beyond the polls in flight', async () => {
    const server = miniServer({}, { limits: { maxConcurrentPolls: 1 } });
    server.routes.set('retrieve_future', never);
    server.service.futures.attach(handle(-1));
    await server.clock.advance(1);
    const before = heapAfterCollection();
    const futures = Array.from({ length: COUNT }, (_, index) => server.service.futures.attach(handle(index)));
    await server.clock.advance(1);
    const each = (heapAfterCollection() - before) / COUNT;
    expect(each).toBeLessThan(4096);
    const outcomes = Promise.allSettled(futures);
    await server.service.close();
    await outcomes;
  });
});
