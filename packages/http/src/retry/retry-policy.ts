import { TimeoutError, TinkexError } from '@tinkex/types';
import { isRetryableResponse, retryAfterMs } from '@tinkex/types/wire';
import type { Random } from '../clock/random.js';

const INITIAL_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const JITTER = 0.25;
/** The longest wait that a server may ask for; the backoff replaces anything longer. */
const MAX_RETRY_AFTER_MS = 60_000;

/** How one attempt ended: with a response, or with an error. */
export type AttemptOutcome =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly error?: undefined }
  | { readonly error: unknown; readonly status?: undefined };

/** What to do next. */
export type RetryDecision = { readonly retry: true; readonly delayMs: number } | { readonly retry: false };

const GIVE_UP: RetryDecision = { retry: false };

/**
 * Whether the base HTTP layer tries again, and after how long. Pure: the same arguments give the same decision.
 *
 * @param attempt - The attempt that just ended, from 0.
 * @param maxRetries - Attempts after the first. 0 means exactly one request.
 * @param random - Jitter: takes up to a quarter off the delay.
 * @param nowMs - The injected clock's time, for dates in `Retry-After`.
 */
export function decideRetry(attempt: number, outcome: AttemptOutcome, maxRetries: number, random: Random, nowMs: number): RetryDecision {
  if (attempt >= maxRetries) return GIVE_UP;
  if (outcome.status === undefined) return isRetryableError(outcome.error) ? { retry: true, delayMs: backoffMs(attempt, random) } : GIVE_UP;
  if (!isRetryableResponse(outcome.status, outcome.headers)) return GIVE_UP;
  return { retry: true, delayMs: retryAfterMs(outcome.headers, nowMs, { maxMs: MAX_RETRY_AFTER_MS }) ?? backoffMs(attempt, random) };
}

/** Half a second, doubled with each attempt up to ten seconds, less up to a quarter of it. */
export function backoffMs(attempt: number, random: Random): number {
  return Math.min(INITIAL_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (1 - JITTER * random());
}

function isRetryableError(error: unknown): boolean {
  // The caller's own limit for the whole call leaves no time for another attempt.
  if (TimeoutError.isInstance(error) && error.phase === 'total') return false;
  return TinkexError.isInstance(error) && error.isRetryable;
}
