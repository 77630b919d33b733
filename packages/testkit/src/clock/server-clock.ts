import type { Clock } from '@tinkex/http';

/** The longest that the runtime's timers can wait. Asked for more they fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * The machine's own time, with timers that keep no process alive. The same as `systemClock` of `@tinkex/http`, whose import would bring
 * the network stack along: a test server starts in half the time without it.
 */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS)).unref(),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** Resolves after `delayMs` on the clock. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, delayMs);
  });
}

/** One party's use of a clock that it shares with others: the same time, and a count of its own timers. */
export class ClockShare implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many of its timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, delayMs);
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer);
    this.#clock.clearTimeout(timer);
  }
}
