import { type MonotonicTime, monotonicTime } from './monotonic-time.js';

/**
 * Time as every layer sees it. Inject a `VirtualClock` from `@tinkex/http/testing` in tests.
 *
 * A clock has two scales, and the types keep them apart. Durations (deadlines, backoffs, intervals, lifetimes in a process) are measured
 * with `monotonicMs`, which cannot be set. Dates that others read or write (the expiry of a token, `Retry-After`, the time of a
 * checkpoint, a log line) come from `wallMs`, which jumps when the system's clock is set.
 */
export interface Clock {
  /** A moment that only ever grows, at the pace of the timers. See {@link elapsedMs}, {@link timeAfter} and {@link remainingMs}. */
  monotonicMs(): MonotonicTime;
  /** Milliseconds since the epoch, like `Date.now()`. The difference of two is not a duration. */
  wallMs(): number;
  /** Like the global `setTimeout`. The timer does not keep the process alive. */
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** The longest delay of the runtime's timers, nearly 25 days. They fire immediately when it is longer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Randomness as every layer sees it: uniform in [0, 1), like `Math.random`. Inject a seeded one in tests. */
export type Random = () => number;

/** The system clock. Timers are unref'd: a client that was not closed never keeps a process alive. */
export const systemClock: Clock = {
  // Whole milliseconds, like those of the timers: durations in events and logs stay readable.
  monotonicMs: () => monotonicTime(Math.floor(performance.now())),
  wallMs: () => Date.now(),
  setTimeout: (callback, delayMs) => {
    const handle = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
    handle.unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};
