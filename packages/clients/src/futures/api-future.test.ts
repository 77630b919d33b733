import { getEventListeners } from 'node:events';
import { subscribe } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, type FutureUnobservedFailureEvent, RequestFailedError, TimeoutError } from '@tinkex/types';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { ApiFuture } from './api-future.js';
import { FutureCore } from './future-core.js';
import type { FutureProgress } from './future-progress.js';

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);
process.on('unhandledRejection', onUnhandled);
afterEach(async () => {
  await turn();
  expect(unhandled).toEqual([]);
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const failure = new RequestFailedError({ message: 'it broke', category: 'server' });

function make<T>() {
  const clock = new VirtualClock();
  const core = new FutureCore<T>({ requestType: 'OptimStep', clock, source: () => ({ clientId: 'c', baseUrl: 'http://x' }) });
  return { clock, core, future: ApiFuture.of(core) };
}

async function unobserved(work: () => unknown): Promise<FutureUnobservedFailureEvent[]> {
  const events: FutureUnobservedFailureEvent[] = [];
  const stop = subscribe('tinkex:future:unobserved_failure', (event) => events.push(event));
  await work();
  await turn();
  stop();
  return events;
}

describe('ApiFuture', () => {
  it('is awaitable, again and again, by Promise.all too', async () => {
    const { core, future } = make<number>();
    core.accept(['req-1']);
    core.resolve(5);
    expectTypeOf(await future).toEqualTypeOf<number>();
    expect(await Promise.all([future, future, future.result()])).toEqual([5, 5, 5]);
    expect(future.status).toBe('resolved');
  });

  it('shows status and request id as they come', async () => {
    const { core, future } = make<number>();
    expect([future.status, future.requestId]).toEqual(['submitting', undefined]);
    const submitted = future.submitted();
    core.accept(['req-1', 'req-2']);
    await submitted;
    await future.submitted();
    expect([future.status, future.requestId, future.requestIds]).toEqual(['pending', 'req-1', ['req-1', 'req-2']]);
  });

  it('submitted() rejects when the operation never was accepted', async () => {
    const { core, future } = make<number>();
    const submitted = future.submitted();
    core.reject(failure);
    await expect(submitted).rejects.toBe(failure);
    await expect(future.submitted()).rejects.toBe(failure);
  });

  it('a wait with an aborted signal leaves no rejection behind', async () => {
    const { core, future } = make<number>();
    const signal = AbortSignal.abort();
    core.reject(failure);
    await expect(future.submitted({ signal })).rejects.toBeInstanceOf(AbortedError);
    await expect(future.result({ signal })).rejects.toBeInstanceOf(AbortedError);
  });

  it('publishes a failure that no caller waits for, and never makes it an unhandled rejection', async () => {
    const { core } = make<number>();
    core.accept(['req-9']);
    const events = await unobserved(() => core.reject(failure));
    expect(events).toEqual([
      {
        callId: core.callId,
        clientId: 'c',
        baseUrl: 'http://x',
        requestType: 'OptimStep',
        requestId: 'req-9',
        errorCode: failure.code,
        errorName: failure.name,
      },
    ]);
  });

  it.each([
    ['await', (future: ApiFuture<number>) => future.then(undefined, () => undefined)],
    ['catch', (future: ApiFuture<number>) => future.catch(() => undefined)],
    ['result', (future: ApiFuture<number>) => future.result().catch(() => undefined)],
    ['submitted', (future: ApiFuture<number>) => future.submitted().catch(() => undefined)],
  ])('publishes nothing when a caller waits by %s', async (_, wait) => {
    const { core, future } = make<number>();
    const waiting = wait(future);
    expect(await unobserved(() => core.reject(failure))).toEqual([]);
    await waiting;
  });

  it('a wait that times out or is aborted ends alone; the others get the result', async () => {
    const { clock, core, future } = make<number>();
    const controller = new AbortController();
    const waits = [future.result({ timeoutMs: 100 }), future.result({ signal: controller.signal }), future.result()];
    const outcomes = Promise.allSettled(waits);
    await clock.advance(100);
    controller.abort('stop');
    core.resolve(1);
    const [timedOut, aborted, normal] = await outcomes;
    expect((timedOut as PromiseRejectedResult).reason).toSatisfy((error) => TimeoutError.isInstance(error) && error.phase === 'wait');
    expect((aborted as PromiseRejectedResult).reason).toSatisfy((error) => AbortedError.isInstance(error) && error.cause === 'stop');
    expect(normal).toEqual({ status: 'fulfilled', value: 1 });
    expect(clock.pending).toBe(0);
  });

  it('leaves no listener and no timer behind', async () => {
    const { clock, core, future } = make<number>();
    const controller = new AbortController();
    const waits = Array.from({ length: 20 }, () => future.result({ signal: controller.signal, timeoutMs: 1000 }));
    // One for all of them: Node takes more than ten for a leak.
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    core.resolve(1);
    await Promise.all(waits);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(clock.pending).toBe(0);
    controller.abort();
    await expect(future.result({ signal: controller.signal })).rejects.toSatisfy(AbortedError.isInstance);
  });

  it('iterates over progress: the present state, the latest change, the end', async () => {
    const { clock, core, future } = make<number>();
    const seen: FutureProgress[] = [];
    const reading = (async () => {
      for await (const progress of future) seen.push(progress);
    })();
    await turn();
    core.accept(['req-1']);
    await turn();
    await clock.advance(500);
    core.queueStateIs({ state: 'paused_capacity', reason: 'full' }, 'req-1');
    core.polled();
    core.polled();
    await turn();
    core.resolve(1);
    await reading;
    expect(seen).toEqual([
      { status: 'submitting', polls: 0, elapsedMs: 0 },
      { status: 'pending', requestId: 'req-1', polls: 0, elapsedMs: 0 },
      { status: 'pending', requestId: 'req-1', queueState: 'paused_capacity', queueStateReason: 'full', polls: 2, elapsedMs: 500 },
      { status: 'resolved', requestId: 'req-1', polls: 2, elapsedMs: 500 },
    ]);
  });

  it('iteration throws the failure, ends at break, and ends immediately on a settled future', async () => {
    const failing = make<number>();
    const reading = (async () => {
      for await (const { status } of failing.future) expect(status).toBe('submitting');
    })();
    await turn();
    failing.core.reject(failure);
    await expect(reading).rejects.toBe(failure);

    const left = make<number>();
    for await (const _ of left.future) break;
    left.core.resolve(1);

    const states: string[] = [];
    for await (const { status } of left.future) states.push(status);
    expect(states).toEqual(['resolved']);
  });

  it('several concurrent reads each get a change or the end', async () => {
    const { core, future } = make<number>();
    const iterator = future[Symbol.asyncIterator]();
    await iterator.next();
    const reads = Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.next()]);
    core.accept(['req-1']);
    await turn();
    core.resolve(1);
    expect((await reads).map(({ value }) => value?.status)).toEqual(['pending', 'resolved', undefined, undefined]);
  });

  it('a throwing queue state callback is printed as a warning and changes neither the others nor the result', async () => {
    const warnings: unknown[] = [];
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(warning));
    const { core, future } = make<number>();
    const seen: string[] = [];
    const mistake = new Error('in the callback');
    future.onQueueState(() => {
      throw mistake;
    });
    future.onQueueState(({ state }) => seen.push(state));
    core.accept(['r']);
    core.queueStateIs({ state: 'paused_capacity' }, 'r');
    core.resolve(5);
    expect(await future).toBe(5);
    expect(seen).toEqual(['paused_capacity']);
    expect(warnings).toEqual([mistake]);
    warn.mockRestore();
  });

  it('reports queue states on transitions only, until unsubscribed', () => {
    const { core, future } = make<number>();
    const changes: unknown[] = [];
    const published: unknown[] = [];
    const stopEvents = subscribe('tinkex:queue:state_change', ({ from, to }) => published.push([from, to]));
    const stop = future.onQueueState((change) => changes.push(change));
    core.accept(['r']);
    core.queueStateIs({ state: 'active' }, 'r');
    core.queueStateIs({ state: 'active' }, 'r');
    core.queueStateIs({ state: 'paused_rate_limit', reason: 'slow down' }, 'r');
    stop();
    core.queueStateIs({ state: 'active' }, 'r');
    stopEvents();
    expect(changes).toEqual([
      { state: 'active', requestId: 'r' },
      { state: 'paused_rate_limit', reason: 'slow down', requestId: 'r' },
    ]);
    expect(published).toEqual([
      [undefined, 'active'],
      ['active', 'paused_rate_limit'],
      ['paused_rate_limit', 'active'],
    ]);
  });

  it('the chunks of one call each report their own transitions', () => {
    const { core, future } = make<number>();
    const changes: string[] = [];
    future.onQueueState(({ state, requestId }) => changes.push(`${requestId} ${state}`));
    core.accept(['a', 'b', 'c']);
    for (let round = 0; round < 3; round += 1) {
      core.queueStateIs({ state: 'active' }, 'a');
      core.queueStateIs({ state: 'paused_capacity' }, 'b');
      core.queueStateIs({ state: 'paused_capacity' }, 'c');
    }
    core.queueStateIs({ state: 'active' }, 'c');
    core.queueStateIs({ state: 'paused_capacity' }, 'b');
    expect(changes).toEqual(['a active', 'b paused_capacity', 'c active']);
  });

  it('a future mapped on the way shows what its source shows', async () => {
    const { clock, core, future } = make<number>();
    core.accept(['req-1']);
    core.polled();
    core.queueStateIs({ state: 'paused_capacity', reason: 'full' }, 'req-1');
    await clock.advance(500);
    const mapped = future.map(String);
    const shown = await mapped[Symbol.asyncIterator]().next();
    expect(shown).toEqual(await future[Symbol.asyncIterator]().next());
    expect(shown.value).toMatchObject({ queueState: 'paused_capacity', queueStateReason: 'full', elapsedMs: 500 });
  });

  it('map computes from the result, follows the progress, and fails on its own', async () => {
    const { core, future } = make<number>();
    const doubled = future.map((value) => value * 2);
    const broken = future.map(() => {
      throw new TypeError('no');
    });
    core.accept(['req-1']);
    core.polled();
    expect([doubled.requestId, doubled.status]).toEqual(['req-1', 'pending']);
    const events = await unobserved(async () => {
      core.resolve(4);
      expect(await doubled).toBe(8);
    });
    expect(events.map(({ errorName }) => errorName)).toEqual(['TypeError']);
    await expect(broken).rejects.toThrow(TypeError);
    expect(await future).toBe(4);
  });

  it('a failed source fails the mapped future, unobserved as one event', async () => {
    const { core, future } = make<number>();
    future.map((value) => value);
    expect(await unobserved(() => core.reject(failure))).toHaveLength(1);
  });

  it('becomes a plain handle in JSON', () => {
    const { core, future } = make<number>();
    expect(future.toJSON().requestIds).toEqual([]);
    core.accept(['a', 'b']);
    expect(JSON.parse(JSON.stringify({ future }))).toEqual({
      future: { kind: 'tinkex.future', version: 1, requestType: 'OptimStep', requestIds: ['a', 'b'] },
    });
    core.resolve(1);
  });
});
