import type { Clock, MonotonicTime } from '@tinkex/http/clock';

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

  monotonicMs(): MonotonicTime {
    return this.#clock.monotonicMs();
  }

  wallMs(): number {
    return this.#clock.wallMs();
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
