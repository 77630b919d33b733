import { getEventListeners } from 'node:events';
import { AbortedError, ApiStatusError, ConnectionError, TimeoutError, ValidationError } from '@tinkex/types';
import { isRetryableStatus } from '@tinkex/types/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtual-clock.js';
import { backoff } from './backoff.js';
import { type Failure, type Retry, type RetryStrategy, retry, UnsuccessfulResponse } from './retry.js';
import { httpStrategy, outerStrategy } from './strategies.js';

const LOST = new ConnectionError({ message: 'lost' });

function failure(of: Partial<Failure>): Failure {
  return { error: undefined, failures: 0, elapsedMs: 0, wallMs: 0, ...of };
}

function response(status: number, headers: Record<string, string> = {}): Pick<Failure, 'error' | 'status' | 'headers'> {
  return { error: new UnsuccessfulResponse({ status, headers }), status, headers };
}

/** Fails with each error in turn, then returns `'done'`. Notes what it was called with. */
function failing(errors: readonly unknown[], seen: number[] = []): (failures: number) => Promise<string> {
  const left = [...errors];
  return async (failures) => {
    seen.push(failures);
    if (left.length > 0) throw left.shift();
    return 'done';
  };
}

describe('retry', () => {
  it('reports each wait, and counts failures without pauses', async () => {
    const clock = new VirtualClock();
    const retries: Retry[] = [];
    const seen: number[] = [];
    const pausing: RetryStrategy = ({ error }) => (error instanceof RangeError ? { pauseMs: 5_000 } : undefined);
    const work = failing([LOST, new RangeError('pause'), LOST], seen);
    const policy = { clock, strategies: [pausing, outerStrategy()], onRetry: (one: Retry) => void retries.push(one) };
    expect(await clock.runUntil(retry(work, policy))).toBe('done');
    expect(clock.waitsMs).toEqual([1_000, 5_000, 2_000]);
    expect(seen).toEqual([0, 1, 1, 2]);
    expect(retries.map(({ failures, isPause, elapsedMs }) => [failures, isPause, elapsedMs])).toEqual([
      [0, false, 0],
      [1, true, 1_000],
      [1, false, 6_000],
    ]);
  });

  it('shows strategies the status and headers of error responses', async () => {
    const seen: Failure[] = [];
    const strategy: RetryStrategy = (one) => {
      seen.push(one);
      return 1;
    };
    const headers = { 'retry-after': '7' };
    const clock = new VirtualClock({ startMs: 5 });
    await clock.runUntil(
      retry(
        failing([new ApiStatusError({ message: 'x', status: 503, headers }), new UnsuccessfulResponse({ status: 429, headers }), LOST]),
        {
          clock,
          strategies: [strategy],
        },
      ),
    );
    expect(seen.map(({ status, headers: shown, wallMs }) => [status, shown, wallMs])).toEqual([
      [503, headers, 5],
      [429, headers, 6],
      [undefined, undefined, 7],
    ]);
  });

  it.each([
    ['a bug', new TypeError('bug')],
    ['an unusable body', new ValidationError({ direction: 'response', issues: [] })],
    ['a fault that time does not heal, such as a redirect loop', new ConnectionError({ message: 'x', isRetryable: false })],
    ["the caller's time limit", new TimeoutError({ message: 'x', phase: 'total' })],
  ])('throws %s immediately', async (_name, error) => {
    const seen: number[] = [];
    const given: Failure[] = [];
    const policy = { clock: new VirtualClock(), strategies: [outerStrategy()], onGiveUp: (one: Failure) => void given.push(one) };
    await expect(retry(failing([error], seen), policy)).rejects.toBe(error);
    expect(seen).toEqual([0]);
    expect(given).toMatchObject([{ error, failures: 0 }]);
  });

  it('ends its wait when the signal is aborted, and leaves no timer and no listener', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const onRetry = (): void => void setImmediate(() => controller.abort('why'));
    const work = () => Promise.reject(LOST);
    const policy = { clock, signal: controller.signal, strategies: [outerStrategy()], onRetry };
    await expect(retry(work, policy)).rejects.toMatchObject({ name: 'AbortError', cause: 'why' });
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('starts no further attempt after an abort, and reports nothing', async () => {
    const controller = new AbortController();
    const reports: unknown[] = [];
    const report = (one: unknown): void => void reports.push(one);
    const run = (error: unknown) => {
      const work = async () => {
        controller.abort();
        throw error;
      };
      const policy = { clock: new VirtualClock(), signal: controller.signal, strategies: [outerStrategy()] };
      return retry(work, { ...policy, onRetry: report, onGiveUp: report });
    };
    await expect(run(LOST)).rejects.toBeInstanceOf(AbortedError);
    await expect(run(new TypeError('bug'))).rejects.toBeInstanceOf(TypeError);
    expect(reports).toEqual([]);
  });
});

describe('retryable statuses', () => {
  const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
  const strategies: Record<string, (status: number) => boolean> = {
    httpStrategy: (status) => httpStrategy({ maxRetries: 1 })(failure(response(status))) !== undefined,
    'httpStrategy, thrown': (status) =>
      httpStrategy({ maxRetries: 1 })(failure({ error: new ApiStatusError({ message: 'x', status }), status })) !== undefined,
    outerStrategy: (status) => outerStrategy()(failure({ error: new ApiStatusError({ message: 'x', status }), status })) !== undefined,
  };
  it.each(Object.entries(strategies))('are the same table for %s', (_name, isRetried) => {
    expect(statuses.filter(isRetried)).toEqual(statuses.filter(isRetryableStatus));
  });
});

describe('httpStrategy', () => {
  const header = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.integer().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  const random = fc.double({ min: 0, max: 0.999_999, noNaN: true });

  it('waits more than nothing and at most a minute, whatever the server says', () => {
    fc.assert(
      fc.property(fc.nat(50), header, header, random, fc.nat(), (failures, ms, after, drawn, wallMs) => {
        const strategy = httpStrategy({ maxRetries: 100, random: () => drawn });
        const delayMs = strategy(failure({ ...response(503, { 'retry-after-ms': ms, 'retry-after': after }), failures, wallMs }));
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  it('allows exactly maxRetries more attempts', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), (failures, maxRetries) => {
        expect(httpStrategy({ maxRetries })(failure({ error: LOST, failures })) !== undefined).toBe(failures < maxRetries);
      }),
    );
  });

  it.each([
    ['the limit for the whole call', new TimeoutError({ message: 'x', phase: 'total' })],
    ['a bug', new TypeError('bug')],
  ])('does not retry %s', (_name, error) => {
    expect(httpStrategy({ maxRetries: 10 })(failure({ error }))).toBeUndefined();
  });
});

describe('backoff', () => {
  it('doubles from its base up to its maximum', () => {
    const delayMs = backoff({ baseMs: 500, maxMs: 10_000 });
    expect([0, 1, 4, 5, 2_000].map(delayMs)).toEqual([500, 1_000, 8_000, 10_000, 10_000]);
  });

  it.each([
    ['below', 0, 1_000],
    ['below', 0.5, 875],
    ['around', 0, 750],
    ['around', 0.5, 1_000],
    ['around', 0.75, 1_000],
  ] as const)('spreads %s its delay at random %d: %d ms', (spread, drawn, expected) => {
    expect(backoff({ baseMs: 1_000, maxMs: 1_000, jitter: 0.25, spread, random: () => drawn })(0)).toBe(expected);
  });
});
