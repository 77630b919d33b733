import { type Clock, hasSubscribers, keepAlive, onAbort, publish } from '@tinkex/http';
import { AbortedError, type EventSource } from '@tinkex/types';

/** How long after the end of a backoff submissions stay throttled, milliseconds. */
const THROTTLE_AFTER_BACKOFF_MS = 10_000;

/** A snapshot of a limiter, for tests, logs and dashboards. Holds no secret. */
export interface RateLimiterState {
  /** Normalized base URL and the first part of the key's hash. */
  readonly limiterId: string;
  /** End of the backoff on the limiter's clock; 0 when none is set. */
  readonly blockedUntilMs: number;
  /** Whether a call has to wait now. */
  readonly isBlocked: boolean;
  /** Whether a backoff is running or ended less than 10 s ago: fewer submissions are allowed and prompts count many times their size. */
  readonly isThrottled: boolean;
  /** Calls that wait for the backoff to end. */
  readonly waiting: number;
}

/**
 * The backoff that all clients of the process with the same base URL and key share. Read it with {@link rateLimiterFor}; clients set and
 * clear it.
 */
export interface RateLimiter {
  /** Normalized base URL and the first part of the key's hash. */
  readonly id: string;
  /** A snapshot of the limiter's state. */
  inspect(): RateLimiterState;
}

/**
 * A backoff only ever grows (`max(existing, new)`). It ends with time, or with the success of a call that started after it was set: the
 * success of an older call says nothing about the server's current load.
 */
export class TenantRateLimiter implements RateLimiter {
  readonly id: string;
  readonly #clock: Clock;
  #blockedUntilMs = 0;
  #blockedAtMs = Number.NEGATIVE_INFINITY;
  #throttledUntilMs = 0;
  #timer: unknown;
  readonly #waiters = new Set<() => void>();

  constructor(id: string, clock: Clock) {
    this.id = id;
    this.#clock = clock;
  }

  get blockedUntilMs(): number {
    return this.#blockedUntilMs;
  }

  get isBlocked(): boolean {
    return this.#blockedUntilMs !== 0 && this.#clock.now() < this.#blockedUntilMs;
  }

  get isThrottled(): boolean {
    return this.#throttledUntilMs !== 0 && this.#clock.now() < this.#throttledUntilMs;
  }

  /** Holds later calls back for `delayMs` from now, or until the end already set, whichever is later. */
  block(delayMs: number, source?: EventSource): void {
    const now = this.#clock.now();
    const until = now + Math.max(0, delayMs);
    this.#blockedAtMs = now;
    if (until > this.#blockedUntilMs) this.#blockedUntilMs = until;
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, this.#blockedUntilMs + THROTTLE_AFTER_BACKOFF_MS);
    if (source && hasSubscribers('tinkex:rate_limit:set')) {
      publish('tinkex:rate_limit:set', { limiterId: this.id, delayMs: this.#blockedUntilMs - now, ...source });
    }
  }

  /** Clears the backoff after an accepted submission, if that submission started after the backoff was set. */
  clearAfterSuccess(startedAtMs: number, source?: EventSource): void {
    if (this.#blockedUntilMs === 0 || startedAtMs <= this.#blockedAtMs) return;
    this.#blockedUntilMs = 0;
    this.#release();
    if (source && hasSubscribers('tinkex:rate_limit:cleared')) {
      publish('tinkex:rate_limit:cleared', { limiterId: this.id, delayMs: 0, ...source });
    }
  }

  /** Resolves when no backoff is running. Rejects with `AbortedError` when the signal fires. */
  async wait(signal?: AbortSignal, source?: EventSource): Promise<void> {
    if (!this.isBlocked) return;
    const since = this.#clock.now();
    while (this.isBlocked) await this.#nextRelease(signal);
    if (source && hasSubscribers('tinkex:rate_limit:wait')) {
      publish('tinkex:rate_limit:wait', { limiterId: this.id, delayMs: this.#clock.now() - since, ...source });
    }
  }

  inspect(): RateLimiterState {
    return {
      limiterId: this.id,
      blockedUntilMs: this.#blockedUntilMs,
      isBlocked: this.isBlocked,
      isThrottled: this.isThrottled,
      waiting: this.#waiters.size,
    };
  }

  #nextRelease(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortedWhileBlocked(signal));
        return;
      }
      let unfollow: (() => void) | undefined;
      const release = (): void => {
        unfollow?.();
        resolve();
      };
      this.#waiters.add(release);
      this.#arm();
      if (signal === undefined) return;
      unfollow = onAbort(signal, () => {
        this.#waiters.delete(release);
        if (this.#waiters.size === 0) this.#disarm();
        reject(abortedWhileBlocked(signal));
      });
    });
  }

  /** One timer serves all waiters, however many there are. */
  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        if (this.isBlocked) this.#arm();
        else this.#release();
      },
      Math.max(1, this.#blockedUntilMs - this.#clock.now()),
    );
    // A call awaits this: the process must not exit before the backoff ends.
    keepAlive(this.#timer);
  }

  #disarm(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #release(): void {
    this.#disarm();
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const release of waiters) release();
  }
}

function abortedWhileBlocked(signal: AbortSignal): AbortedError {
  return new AbortedError({ message: 'The call was aborted while it waited for the rate limit to end.', cause: signal.reason });
}
