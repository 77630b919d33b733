import { ApiStatusError, ConnectionError, TimeoutError, TinkexError } from '@tinkex/types';
import { isRetryableResponse, isRetryableStatus, retryAfterMs } from '@tinkex/types/wire';
import type { Random } from '../clock/clock.js';
import { backoff } from './backoff.js';
import type { RetryStrategy } from './retry.js';

/** The longest wait that a server may request; the backoff replaces anything longer. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Options of `httpStrategy`. */
export interface HttpStrategyOptions {
  /** Attempts after the first. 0 means exactly one request. */
  readonly maxRetries: number;
  /** Default `Math.random`. */
  readonly random?: Random | undefined;
}

/**
 * The strategy of one HTTP call: repeats retryable errors and responses after what `Retry-After` names, if that is at most a
 * minute, else after 0.5 s doubled up to 10 s, less up to a quarter at random.
 */
export function httpStrategy({ maxRetries, random }: HttpStrategyOptions): RetryStrategy {
  const delayMs = backoff({ baseMs: 500, maxMs: 10_000, jitter: 0.25, random });
  return ({ error, status, headers = {}, failures, wallMs }) => {
    if (failures >= maxRetries) return undefined;
    if (TinkexError.isInstance(error)) return error.isRetryable && !isCallerLimit(error) ? delayMs(failures) : undefined;
    if (status === undefined || !isRetryableResponse(status, headers)) return undefined;
    return retryAfterMs(headers, wallMs, { maxMs: MAX_RETRY_AFTER_MS }) ?? delayMs(failures);
  };
}

/** Options of `outerStrategy`. */
export interface OuterStrategyOptions {
  /** No attempt starts later than this after the first, milliseconds. Default 300,000. */
  readonly maxElapsedMs?: number | undefined;
}

/**
 * The strategy of the outer layer, which repeats whole calls: timeouts, connection faults and retryable statuses, after 1, 2,
 * 4 … 30 s without jitter. The last wait is cut so that the last attempt starts at `maxElapsedMs`.
 */
export function outerStrategy({ maxElapsedMs = 300_000 }: OuterStrategyOptions = {}): RetryStrategy {
  const delayMs = backoff({ baseMs: 1_000, maxMs: 30_000 });
  return ({ error, failures, elapsedMs }) => {
    if (elapsedMs >= maxElapsedMs || !isTransient(error)) return undefined;
    return Math.min(delayMs(failures), maxElapsedMs - elapsedMs);
  };
}

function isTransient(error: unknown): boolean {
  if (ConnectionError.isInstance(error)) return error.isRetryable && !isCallerLimit(error);
  return ApiStatusError.isInstance(error) && isRetryableStatus(error.status);
}

/** The caller's limit for the whole call or wait leaves no time for another attempt. */
function isCallerLimit(error: unknown): boolean {
  return TimeoutError.isInstance(error) && (error.phase === 'total' || error.phase === 'wait');
}
