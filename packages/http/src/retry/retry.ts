import { ApiStatusError, TinkexError } from '@tinkex/types';
import { abortedBy } from '../abort/on-abort.js';
import type { Clock } from '../clock/clock.js';
import { elapsedMs } from '../clock/monotonic-time.js';
import { sleep } from '../clock/sleep.js';

/** One failed attempt, as a strategy sees it. */
export interface Failure {
  /** What the attempt threw. */
  readonly error: unknown;
  /** Set when the server answered: the error is an `ApiStatusError` or a `UnsuccessfulResponse`. */
  readonly status?: number | undefined;
  /** Lower-case names. Set together with `status`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Failures before this one, from 0. Pauses do not count. */
  readonly failures: number;
  /** Time since the first attempt started, milliseconds. Pauses count. */
  readonly elapsedMs: number;
  /** The wall time, for dates in `Retry-After`. */
  readonly wallMs: number;
}

/** A wait that does not count as a failure: the next attempt has the same `failures`. */
export interface Pause {
  readonly pauseMs: number;
}

/** The delay before the next attempt in milliseconds, a `Pause`, or `undefined` when this strategy does not retry the failure. */
export type RetryStrategy = (failure: Failure) => number | Pause | undefined;

/** A failed attempt that will be followed by another. */
export interface Retry extends Failure {
  /** The wait before the next attempt, milliseconds. */
  readonly delayMs: number;
  readonly isPause: boolean;
}

/** When and how `retry` repeats its work. */
export interface RetryPolicy {
  /** Asked in order; the first that answers decides. When none answers, `retry` gives up. */
  readonly strategies: readonly RetryStrategy[];
  readonly clock: Clock;
  /** Ends the wait between two attempts, and starts no further attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the wait, which is `sleep(clock, delayMs, signal)`. */
  readonly wait?: ((delayMs: number) => PromiseLike<void>) | undefined;
  /** Called before each wait. What it throws ends the work. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Called when no strategy answers, unless the signal is aborted. */
  readonly onGiveUp?: ((failure: Failure) => void) | undefined;
}

/**
 * Repeats work until it succeeds or no strategy retries its failure.
 *
 * @param work - Called with the failures so far, from 0; pauses do not count.
 * @returns What the first successful attempt returned.
 * @throws The last attempt's error; `AbortedError` when the signal is aborted before the next attempt starts.
 *
 * @example
 * ```ts
 * import { backoff, retry, systemClock } from '@tinkex/http';
 *
 * const delayMs = backoff({ baseMs: 10, maxMs: 1_000 });
 * const work = async (failures: number) => {
 *   if (failures < 2) throw new Error('not yet');
 *   return 'done';
 * };
 * console.log(await retry(work, { clock: systemClock, strategies: [({ failures }) => delayMs(failures)] })); // done
 * ```
 */
export async function retry<T>(work: (failures: number) => PromiseLike<T>, policy: RetryPolicy): Promise<T> {
  const { strategies, clock, signal, wait, onRetry, onGiveUp } = policy;
  const startedAt = clock.monotonicMs();
  let failures = 0;
  for (;;) {
    try {
      return await work(failures);
    } catch (error) {
      const failure = { error, ...responseIn(error), failures, elapsedMs: elapsedMs(clock, startedAt), wallMs: clock.wallMs() };
      const answer = firstAnswer(strategies, failure);
      if (answer === undefined) {
        if (!signal?.aborted) onGiveUp?.(failure);
        throw error;
      }
      if (signal?.aborted) throw abortedBy(signal);
      const isPause = typeof answer !== 'number';
      const delayMs = isPause ? answer.pauseMs : answer;
      if (!isPause) failures += 1;
      onRetry?.({ ...failure, delayMs, isPause });
      await (wait === undefined ? sleep(clock, delayMs, signal) : wait(delayMs));
    }
  }
}

/** A response that is not a success, for work that throws no error for it. `retry` reads its status and headers like those of an `ApiStatusError`. */
export class UnsuccessfulResponse<Response extends { readonly status: number; readonly headers: Readonly<Record<string, string>> }> {
  readonly response: Response;

  constructor(response: Response) {
    this.response = response;
  }
}

/** Sets `attempts` of an error: how many requests were sent before the caller received it. Returns the error. */
export function withAttempts(error: unknown, attempts: number): unknown {
  if (TinkexError.isInstance(error) && error.attempts !== attempts) {
    Object.defineProperty(error, 'attempts', { value: attempts, enumerable: true, configurable: true });
  }
  return error;
}

function responseIn(error: unknown): Pick<Failure, 'status' | 'headers'> | undefined {
  const response = error instanceof UnsuccessfulResponse ? error.response : ApiStatusError.isInstance(error) ? error : undefined;
  return response && { status: response.status, headers: response.headers };
}

function firstAnswer(strategies: readonly RetryStrategy[], failure: Failure): number | Pause | undefined {
  for (const strategy of strategies) {
    const answer = strategy(failure);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
