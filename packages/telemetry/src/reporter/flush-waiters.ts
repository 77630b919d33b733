import { type Clock, keepAlive } from '@tinkex/http';

/** Those who wait until a number of events has been dealt with, each for a bounded time. */
export class FlushWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<{ readonly target: number; readonly settle: (isDone: boolean) => void }>();
  #done = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves `true` once `target` events are dealt with, `false` when the time is up. */
  wait(target: number, timeoutMs: number): Promise<boolean> {
    if (this.#done >= target) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        target,
        settle: (isDone: boolean): void => {
          this.#clock.clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(isDone);
        },
      };
      const timer = this.#clock.setTimeout(() => waiter.settle(false), timeoutMs);
      // Somebody awaits this: the process must not end while the tries below, which keep nothing alive, are between two pauses.
      keepAlive(timer);
      this.#waiters.add(waiter);
    });
  }

  advance(done: number): void {
    this.#done = Math.max(this.#done, done);
    for (const waiter of this.#waiters) if (waiter.target <= this.#done) waiter.settle(true);
  }
}
