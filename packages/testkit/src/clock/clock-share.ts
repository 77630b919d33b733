import type { Clock } from '@tinkex/http';

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
