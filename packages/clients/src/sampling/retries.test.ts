import { getEventListeners } from 'node:events';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, ConnectionError, FutureExpiredError, RequestFailedError, TimeoutError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { type RetryOptions, resolveRetryOptions, SamplingRetries, samplingStrategy } from './retries.js';

const reset = () => new ConnectionError({ message: 'reset' });

function handlerWith(options: RetryOptions = {}) {
  const clock = new VirtualClock();
  const handler = new SamplingRetries(resolveRetryOptions(options, true), clock, () => 0.5);
  return { clock, handler };
}

/** An attempt that waits for its signal, as a call to a server that never answers. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new AbortedError({ cause: signal.reason })), { once: true });
  });
}

describe('SamplingRetries', () => {
  it('tries until it succeeds, with doubling waits', async () => {
    const { clock, handler } = handlerWith();
    const startMs = clock.elapsedMs;
    const triedAtMs: number[] = [];
    const seen: unknown[] = [];
    const result = handler.run(
      async () => {
        triedAtMs.push(clock.elapsedMs - startMs);
        if (triedAtMs.length < 4) throw triedAtMs.length === 1 ? new FutureExpiredError({ message: 'gone' }) : reset();
        return 'done';
      },
      undefined,
      (error) => seen.push(error),
    );
    expect(await clock.runUntil(result)).toBe('done');
    expect(triedAtMs).toEqual([0, 500, 1_500, 3_500]);
    expect(seen).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it('raises immediately what no retry can fix', async () => {
    const { handler } = handlerWith();
    let attempts = 0;
    const failing = handler.run(async () => {
      attempts += 1;
      throw new RequestFailedError({ message: 'bad', category: 'server' });
    });
    await expect(failing).rejects.toBeInstanceOf(RequestFailedError);
    expect(attempts).toBe(1);
  });

  it('stops after maxAttempts with the last error', async () => {
    const { clock, handler } = handlerWith({ maxAttempts: 3 });
    let attempts = 0;
    const failing = handler.run(async () => {
      attempts += 1;
      throw reset();
    });
    await expect(clock.runUntil(failing)).rejects.toBeInstanceOf(ConnectionError);
    expect(attempts).toBe(3);
  });

  it('ends the wait between attempts when the caller aborts, and removes its listener', async () => {
    const { clock, handler } = handlerWith();
    const controller = new AbortController();
    const failing = handler.run(async () => Promise.reject(reset()), controller.signal);
    await clock.waitForTimers(2);
    controller.abort('enough');
    await expect(failing).rejects.toBeInstanceOf(AbortedError);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it('counts the failures that an attempt repeats by itself, and says how many attempts there were', async () => {
    const { handler } = handlerWith({ maxAttempts: 3 });
    let rounds = 0;
    const failure = await handler
      .run(async (_, submissions) => {
        for (;;) {
          rounds += 1;
          submissions.addOrThrow(new ConnectionError({ message: `round ${rounds}` }));
        }
      })
      .catch((error: unknown) => error);
    expect(rounds).toBe(3);
    expect(failure).toMatchObject({ message: 'round 3', attempts: 3 });
  });

  it.each([{ maxAttempts: 0 }, { maxAttempts: Number.NaN }, { baseDelayMs: -1 }, { jitter: 2 }, { progressTimeoutMs: 0 }])(
    'refuses %o',
    (options) => {
      expect(() => resolveRetryOptions(options, true)).toThrow(`Option retry.${Object.keys(options)[0]} must be`);
    },
  );

  it('fails every call inside when nothing has succeeded for the progress timeout', async () => {
    const { clock, handler } = handlerWith({ progressTimeoutMs: 10_000 });
    const first = handler.run(hang);
    const second = handler.run(hang);
    const outcome = Promise.allSettled([first, second]);
    await clock.advance(9_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    for (const result of await outcome) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'TINKEX_CONNECTION' } });
      expect((result as PromiseRejectedResult).reason.message).toContain('No sampling call of this client has succeeded for 10 s');
    }
    expect(clock.pending).toBe(0);
  });

  it('refuses a misspelt option: it would do nothing', () => {
    expect(() => resolveRetryOptions({ maxAttempt: 3 } as RetryOptions, true)).toThrow(
      'Unknown option retry.maxAttempt. Known options: maxAttempts',
    );
  });

  it('restarts the progress timeout at every success of another call', async () => {
    const { clock, handler } = handlerWith({ progressTimeoutMs: 10_000 });
    let isFailed = false;
    const stuck = handler.run(hang).catch(() => {
      isFailed = true;
    });
    await clock.advance(6_000);
    await handler.run(async () => 'fine');
    await clock.advance(9_999);
    expect(isFailed).toBe(false);
    await clock.advance(1);
    await stuck;
    expect(isFailed).toBe(true);
  });

  it('counts the progress timeout from the entry of the first call, not from the birth of the client', async () => {
    const { clock, handler } = handlerWith({ progressTimeoutMs: 10_000 });
    await clock.advance(60_000);
    const controller = new AbortController();
    const waiting = handler.run(hang, controller.signal);
    await clock.advance(9_999);
    controller.abort();
    await expect(waiting).rejects.toBeInstanceOf(AbortedError);
  });

  it('never gives up for lack of progress when the server turned the detection off', async () => {
    const clock = new VirtualClock();
    const handler = new SamplingRetries(resolveRetryOptions({ progressTimeoutMs: 1_000 }, false), clock, Math.random);
    const controller = new AbortController();
    const waiting = handler.run(hang, controller.signal);
    expect(clock.pending).toBe(0);
    controller.abort();
    await expect(waiting).rejects.toBeInstanceOf(AbortedError);
  });
});

type DelayInput = { readonly layer: string; readonly failures_so_far: number };
type DelaySeconds = { readonly min_seconds: number; readonly nominal_seconds: number; readonly max_seconds: number };

const handlerCases = readVectors<DelayInput, DelaySeconds>('retry-delays').filter(({ input }) => input.layer === 'retry_handler');
const defaults = { baseDelayMs: 500, maxDelayMs: 10_000, jitter: 0.25 };

function delayAfter(error: unknown, failures = 0, random = 0.5) {
  return samplingStrategy(defaults, () => random)({ error, failures, elapsedMs: 0, wallMs: 0 });
}

describe('samplingStrategy', () => {
  it('finds the cases of the retry handler', () => {
    expect(handlerCases).toHaveLength(8);
  });

  it.each(handlerCases)('$name', ({ input, expected }) => {
    const delayMs = (random: number) => delayAfter(reset(), input.failures_so_far - 1, random);
    expect(delayMs(0)).toBeCloseTo(expected.min_seconds * 1000, 6);
    expect(delayMs(0.5)).toBeCloseTo(expected.nominal_seconds * 1000, 6);
    expect(delayMs(1)).toBeCloseTo(expected.max_seconds * 1000, 6);
  });

  it.each([408, 409, 429, 500, 503, 599])('sends again after status %i', (status) => {
    expect(delayAfter(apiStatusError({ status, headers: {}, body: '' }))).toBe(500);
  });

  it.each([400, 401, 402, 403, 404, 410, 422])('gives up after status %i', (status) => {
    expect(delayAfter(apiStatusError({ status, headers: {}, body: '' }))).toBeUndefined();
  });

  it('sends again after faults of the network and expired futures, not after failed work', () => {
    expect(delayAfter(new ConnectionError({ message: 'reset' }))).toBe(500);
    expect(delayAfter(new TimeoutError({ message: 'slow', phase: 'headers' }))).toBe(500);
    expect(delayAfter(new FutureExpiredError({ message: 'gone' }))).toBe(500);
    expect(delayAfter(new RequestFailedError({ message: 'failed', category: 'server' }))).toBeUndefined();
    expect(delayAfter(new Error('a bug'))).toBeUndefined();
  });
});
