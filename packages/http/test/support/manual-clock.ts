import type { Clock } from '../../src/index.js';

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Time that moves only when told. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();
  /** How far `settle` had to move on each time before something happened. */
  readonly waitsMs: number[] = [];

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  /** Timers that have neither fired nor been cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  /** Moves on, firing what falls due in order. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      this.#fire(next);
      await turn();
    }
    this.#nowMs = untilMs;
    await turn();
  }

  /** Jumps from timer to timer until the promise is settled, noting each jump in `waitsMs`. */
  async settle<T>(promise: PromiseLike<T>): Promise<T> {
    let isSettled = false;
    const done = (): void => {
      isSettled = true;
    };
    promise.then(done, done);
    for (let jumps = 0; jumps < 10_000; jumps += 1) {
      await turn();
      if (isSettled) return promise;
      const next = this.#next();
      if (next === undefined) throw new Error('Nothing is left to happen, and the promise is not settled.');
      this.waitsMs.push(next.atMs - this.#nowMs);
      this.#fire(next);
    }
    throw new Error('The promise never settled.');
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.atMs < first.atMs) first = timer;
    return first;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#nowMs = timer.atMs;
    timer.callback();
  }
}

/** Lets everything that is ready run. */
export async function turn(times = 4): Promise<void> {
  for (let count = 0; count < times; count += 1) await new Promise((resolve) => setImmediate(resolve));
}
