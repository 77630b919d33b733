import { ApiStatusError, ConnectionError, TimeoutError } from '@tinkex/types';
import { isRetryableStatus } from '@tinkex/types/wire';
import { type Clock, systemClock } from '../clock/clock.js';
import { sleep } from '../clock/sleep.js';

const MAX_DELAY_MS = 30_000;

/** One failed round of `executeWithRetries` that will be followed by another. */
export interface OuterRetry {
  readonly error: unknown;
  readonly delayMs: number;
  /** Failures so far, pauses not counted; 0 while only pauses happened. */
  readonly failures: number;
  /** True when the round was a pause, which counts against no limit. */
  readonly isPause: boolean;
}

/** Options of `executeWithRetries`. */
export interface ExecuteWithRetriesOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Ends the wait between two rounds at once. */
  readonly signal?: AbortSignal;
  /** No new round starts after this many milliseconds since the first. Default 300,000. */
  readonly maxElapsedMs?: number;
  /** Says for how long an error pauses the work, milliseconds; `undefined` when the error is none that pauses. */
  readonly pause?: (error: unknown) => number | undefined;
  readonly onRetry?: (retry: OuterRetry) => void;
  /** Told of the error that is raised, and of the failures before it, pauses not counted. */
  readonly onGiveUp?: (error: unknown, failures: number) => void;
}

/**
 * Runs a whole call again while it fails in a way that time may heal: timeouts, connection faults and the statuses 408, 409,
 * 429 and 5xx. Waits 1, 2, 4 … 30 s, without jitter, cut so that the last round starts at `maxElapsedMs`.
 *
 * @param work - Called once for each round with the number of failures so far. Each round is a call of its own.
 * @returns What the first successful round returned.
 * @throws The last round's error; `AbortedError` when the signal ends a wait.
 */
export async function executeWithRetries<T>(
  work: (failures: number) => PromiseLike<T>,
  options: ExecuteWithRetriesOptions = {},
): Promise<T> {
  const { clock = systemClock, signal, maxElapsedMs = 300_000, pause, onRetry, onGiveUp } = options;
  const startedAtMs = clock.now();
  let failures = 0;
  for (;;) {
    try {
      return await work(failures);
    } catch (error) {
      const pauseMs = pause?.(error);
      const delayMs = pauseMs ?? outerDelayMs(error, failures, clock.now() - startedAtMs, maxElapsedMs);
      if (delayMs === undefined) {
        onGiveUp?.(error, failures);
        throw error;
      }
      if (pauseMs === undefined) failures += 1;
      onRetry?.({ error, delayMs, failures, isPause: pauseMs !== undefined });
      await sleep(clock, delayMs, signal);
    }
  }
}

/**
 * The outer layer's wait after a failure, milliseconds; `undefined` when the error must be raised.
 *
 * @param failures - Failures before this one.
 */
export function outerDelayMs(error: unknown, failures: number, elapsedMs: number, maxElapsedMs = 300_000): number | undefined {
  if (!isTransient(error) || elapsedMs >= maxElapsedMs) return undefined;
  return Math.min(1_000 * 2 ** failures, MAX_DELAY_MS, maxElapsedMs - elapsedMs);
}

function isTransient(error: unknown): boolean {
  if (TimeoutError.isInstance(error) && (error.phase === 'total' || error.phase === 'wait')) return false;
  if (ConnectionError.isInstance(error)) return error.isRetryable;
  return ApiStatusError.isInstance(error) && isRetryableStatus(error.status);
}
