import type { Clock } from '@tinkex/http';

/** The longest delay of the runtime's timers. With a longer one they fire immediately. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * The system clock, with timers that do not keep the process alive. The same as `systemClock` of `@tinkex/http`, whose import would load
 * the network stack: a test server starts in half the time without it.
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

/** A clock shared with others that counts the timers of one party. */
export class ClockShare implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many of this party's timers are armed. */
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
