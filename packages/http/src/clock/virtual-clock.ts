import type { Clock } from './clock.js';
import { type MonotonicTime, monotonicTime } from './monotonic-time.js';

interface Timer {
  readonly id: number;
  readonly dueMs: number;
  readonly callback: () => void;
}

interface CountWaiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** Options of {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** The first value of `wallMs()`, milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number | undefined;
}

/**
 * A clock that moves only when you advance it. Give the same one to the server and to the client under test, and timeouts, backoffs,
 * long polls and expiries happen exactly when the test says so.
 *
 * Timers fire in the order of their due times, then of their creation. Between two timers real I/O gets a turn, so that work
 * started by the first can arm timers that are due before the second.
 *
 * Its wall time moves with it, and can be set on its own: `jumpWall` is a user who sets the system's clock, `suspend` a machine that sleeps.
 */
export class VirtualClock implements Clock {
  /** How far `runUntil` moved each time to reach the next timer, milliseconds: the waits of the code under test. */
  readonly waitsMs: number[] = [];
  readonly #timers = new Map<number, Timer>();
  readonly #waiters = new Set<CountWaiter>();
  /** The wall time at the start, moved by every jump since. */
  #epochMs: number;
  #nowMs = 0;
  #nextId = 1;

  constructor(options: VirtualClockOptions = {}) {
    this.#epochMs = options.startMs ?? Date.UTC(2026, 0, 1);
  }

  /** How far the clock was advanced since its creation, milliseconds. */
  get elapsedMs(): number {
    return this.#nowMs;
  }

  /** The moment on the scale of the timers. */
  monotonicMs(): MonotonicTime {
    return monotonicTime(this.#nowMs);
  }

  /** The wall time, in milliseconds since the epoch. */
  wallMs(): number {
    return this.#epochMs + this.#nowMs;
  }

  /** Sets the wall clock forward, or back with a negative number. No timer fires and `monotonicMs` does not move. */
  jumpWall(byMs: number): void {
    if (!Number.isFinite(byMs)) throw new RangeError(`VirtualClock.jumpWall takes a number of milliseconds, got ${byMs}.`);
    this.#epochMs += byMs;
  }

  /** A machine that sleeps, such as a closed laptop: the wall time passes, timers and `monotonicMs` stand still. */
  suspend(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`VirtualClock.suspend takes a number of milliseconds >= 0, got ${ms}.`);
    this.jumpWall(ms);
  }

  /** Arms a timer; a negative or absent delay counts as 0. It fires during `advance`, never by itself. */
  setTimeout(callback: () => void, delayMs: number): unknown {
    const id = this.#nextId++;
    this.#timers.set(id, { id, dueMs: this.#nowMs + Math.max(0, delayMs || 0), callback });
    for (const waiter of this.#waiters) {
      if (this.#timers.size >= waiter.count) {
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
    }
    return id;
  }

  /** Disarms a timer; unknown handles are ignored. */
  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer fires, or undefined when none is armed. */
  get nextInMs(): number | undefined {
    const next = this.#earliest();
    return next === undefined ? undefined : Math.max(0, next.dueMs - this.#nowMs);
  }

  /** Moves time forward and fires every timer that becomes due, including timers armed meanwhile. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0) || !Number.isFinite(ms)) throw new RangeError(`VirtualClock.advance takes a number of milliseconds >= 0, got ${ms}.`);
    const targetMs = this.#nowMs + ms;
    await turn();
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= targetMs; next = this.#earliest()) {
      this.#timers.delete(next.id);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
      await turn();
    }
    this.#nowMs = targetMs;
    await turn();
  }

  /** Moves time to the next armed timer and fires what is due then. Resolves to false when no timer is armed. */
  async advanceToNext(): Promise<boolean> {
    const waitMs = this.nextInMs;
    if (waitMs === undefined) return false;
    await this.advance(waitMs);
    return true;
  }

  /**
   * Moves time from timer to timer until `promise` settles, and returns its outcome. Real I/O runs in between.
   * Throws when `limitMs` of virtual time pass first. Default one day.
   */
  async runUntil<T>(promise: PromiseLike<T>, limitMs = 86_400_000): Promise<T> {
    let isSettled = false;
    const settled = Promise.resolve(promise).finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    const endMs = this.#nowMs + limitMs;
    while (!isSettled) {
      for (let quiet = 0; quiet < 8 && !isSettled; quiet++) await turn();
      if (isSettled) break;
      if (this.#nowMs > endMs) throw new Error(`VirtualClock.runUntil: not settled after ${limitMs} ms of virtual time.`);
      const waitMs = this.nextInMs;
      if (waitMs === undefined) continue;
      this.waitsMs.push(waitMs);
      await this.advance(waitMs);
    }
    return settled;
  }

  /** Resolves once at least `count` timers are armed, which is when the code under test waits for time to pass. */
  async waitForTimers(count = 1): Promise<void> {
    if (this.#timers.size >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add({ count, resolve });
    });
  }

  #earliest(): Timer | undefined {
    let best: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (best === undefined || timer.dueMs < best.dueMs) best = timer;
    }
    return best;
  }
}

/** One turn of the event loop: microtasks, then pending I/O. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
