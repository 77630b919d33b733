/**
 * Time as every layer sees it. Inject another one in tests: the testkit's `VirtualClock` moves only when told.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Like the global `setTimeout`. The returned handle keeps no process alive. */
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** The longest that the runtime's timers can wait, nearly 25 days. Asked for more they fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The machine's own time. Timers are unref'd: a forgotten client never keeps a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => {
    const handle = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
    handle.unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};
