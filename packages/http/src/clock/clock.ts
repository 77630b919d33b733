/**
 * Time as every layer sees it. Inject a `VirtualClock` from `@tinkex/http/testing` in tests.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
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
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => {
    const handle = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
    handle.unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};
