import {
  type Clock,
  elapsedMs,
  hasSubscribers,
  keepAlive,
  type MonotonicTime,
  onAbort,
  publish,
  remainingMs,
  timeAfter,
} from '@tinkex/http';
import { AbortedError, type EventSource } from '@tinkex/types';

/** How long after the end of a backoff submissions stay throttled, milliseconds. */
const THROTTLE_AFTER_BACKOFF_MS = 10_000;

/** A snapshot of a limiter, for tests, logs and dashboards. Holds no secret. */
export interface RateLimiterState {
  /** Normalized base URL and the first part of the key's hash. */
  readonly limiterId: string;
  /** How long the backoff still lasts, milliseconds; 0 when none is running. */
  readonly blockedForMs: number;
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
  #blockedUntil: MonotonicTime | undefined;
  #blockedAt: MonotonicTime | undefined;
  #throttledUntil: MonotonicTime | undefined;
  #timer: unknown;
  readonly #waiters = new Set<() => void>();

  constructor(id: string, clock: Clock) {
    this.id = id;
    this.#clock = clock;
  }

  /** Whether a backoff was set and not cleared since, even if it is over. */
  get hasBackoff(): boolean {
    return this.#blockedUntil !== undefined;
  }

  get isBlocked(): boolean {
    return this.#blockedUntil !== undefined && this.#clock.monotonicMs() < this.#blockedUntil;
  }

  get isThrottled(): boolean {
    return this.#throttledUntil !== undefined && this.#clock.monotonicMs() < this.#throttledUntil;
  }

  /** Holds later calls back for `delayMs` from now, or until the end already set, whichever is later. */
  block(delayMs: number, source?: EventSource): void {
    const blockedForMs = Math.max(0, delayMs, this.#blockedForMs());
    this.#blockedAt = this.#clock.monotonicMs();
    this.#blockedUntil = timeAfter(this.#clock, blockedForMs);
    const throttledUntil = timeAfter(this.#clock, blockedForMs + THROTTLE_AFTER_BACKOFF_MS);
    if (this.#throttledUntil === undefined || this.#throttledUntil < throttledUntil) this.#throttledUntil = throttledUntil;
    if (source && hasSubscribers('tinkex:rate_limit:set')) {
      publish('tinkex:rate_limit:set', { limiterId: this.id, delayMs: blockedForMs, ...source });
    }
  }

  /** Clears the backoff after an accepted submission, if that submission started after the backoff was set. */
  clearAfterSuccess(startedAt: MonotonicTime, source?: EventSource): void {
    if (this.#blockedAt === undefined || startedAt <= this.#blockedAt) return;
    this.#blockedAt = undefined;
    this.#blockedUntil = undefined;
    this.#release();
    if (source && hasSubscribers('tinkex:rate_limit:cleared')) {
      publish('tinkex:rate_limit:cleared', { limiterId: this.id, delayMs: 0, ...source });
    }
  }

  /** Resolves when no backoff is running. Rejects with `AbortedError` when the signal fires. */
  async wait(signal?: AbortSignal, source?: EventSource): Promise<void> {
    if (!this.isBlocked) return;
    const since = this.#clock.monotonicMs();
    while (this.isBlocked) await this.#nextRelease(signal);
    if (source && hasSubscribers('tinkex:rate_limit:wait')) {
      publish('tinkex:rate_limit:wait', { limiterId: this.id, delayMs: elapsedMs(this.#clock, since), ...source });
    }
  }

  inspect(): RateLimiterState {
    return {
      limiterId: this.id,
      blockedForMs: this.#blockedForMs(),
      isBlocked: this.isBlocked,
      isThrottled: this.isThrottled,
      waiting: this.#waiters.size,
    };
  }

  #blockedForMs(): number {
    return this.#blockedUntil === undefined ? 0 : Math.max(0, remainingMs(this.#clock, this.#blockedUntil));
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
      Math.max(1, this.#blockedForMs()),
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
