import { betweenMs, type Clock, type MonotonicTime, type RetryStrategy } from '@tinkex/http';

/** How long one pause lasts before the call is tried again. */
export const BILLING_PAUSE_MS = 5_000;

const FORGET_AFTER_MS = 300_000;
const REMIND_AFTER_MS = 60_000;

/** What to do about one 402 answer. */
export interface BillingVerdict {
  /** Wait {@link BILLING_PAUSE_MS} and try again; otherwise the 402 is an ordinary error. */
  readonly isPaused: boolean;
  /** Whether to report this one: `warning` at most once a minute, `error` when the window is over. */
  readonly report?: 'warning' | 'error';
}

/**
 * The rule for HTTP 402 (unpaid): work waits for the account to be paid, for up to the window that the server configures. There is one
 * object per connection, because an unpaid account concerns all of its calls.
 */
export class BillingPause {
  readonly #clock: Clock;
  readonly #maxPauseMs: number;
  readonly #onReport: ((verdict: 'warning' | 'error') => void) | undefined;
  #firstAt: MonotonicTime | undefined;
  #reportedAt: MonotonicTime | undefined;

  /** @param maxPauseMs - The window, counted from the first 402 of an incident. */
  constructor(clock: Clock, maxPauseMs: number, onReport?: (verdict: 'warning' | 'error') => void) {
    this.#clock = clock;
    this.#maxPauseMs = maxPauseMs;
    this.#onReport = onReport;
  }

  /** Judges one answer and remembers it. A status other than 402 never pauses. */
  judge(status: number): BillingVerdict {
    if (status !== 402) return { isPaused: false };
    const verdict = this.#judgeUnpaid(this.#clock.monotonicMs());
    if (verdict.report !== undefined) this.#onReport?.(verdict.report);
    return verdict;
  }

  /** Pauses calls that were answered with 402 while the window is open. */
  readonly strategy: RetryStrategy = ({ status }) =>
    status !== undefined && this.judge(status).isPaused ? { pauseMs: BILLING_PAUSE_MS } : undefined;

  #judgeUnpaid(now: MonotonicTime): BillingVerdict {
    if (this.#reportedAt !== undefined && betweenMs(this.#reportedAt, now) > FORGET_AFTER_MS) {
      this.#firstAt = undefined;
      this.#reportedAt = undefined;
    }
    if (this.#firstAt !== undefined && betweenMs(this.#firstAt, now) > this.#maxPauseMs) return { isPaused: false, report: 'error' };
    this.#firstAt ??= now;
    if (this.#reportedAt !== undefined && betweenMs(this.#reportedAt, now) <= REMIND_AFTER_MS) return { isPaused: true };
    this.#reportedAt = now;
    return { isPaused: true, report: 'warning' };
  }
}
