import { type Clock, monotonicTime, systemClock } from '@tinkex/http';

/** Later timers never fire here: heartbeats, refreshes, the limit of a stuck sampler. */
const HORIZON_MS = 100_000;
/** A wait at least this long may be a deadline. */
const LONG_MS = 9_000;
/** Turns of the event loop after which nothing more happens on its own, as far as loopback goes. */
const QUIET_TURNS = 12;
/** So long nothing may have moved before a long wait is over. */
const SILENCE_MS = 20;

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * Real sockets without real waits: when the event loop has nothing else to do, the clock moves to the next timer. A long wait, which may be a
 * deadline, is over only when no byte has moved for a moment, that is, when the server is silent.
 */
export class HastyClock implements Clock {
  /** How far the wall clock has been set. */
  wallOffsetMs = 0;
  /** What the client believes to have waited, milliseconds. */
  skippedMs = 0;
  /** Changes whenever a byte moves. */
  readonly #activity: () => number;
  readonly #horizonMs: number;
  readonly #timers = new Set<Timer>();
  #isPumping = false;

  /** @param horizonMs - Timers that are further away never fire. */
  constructor(activity: () => number, horizonMs = HORIZON_MS) {
    this.#activity = activity;
    this.#horizonMs = horizonMs;
  }

  monotonicMs() {
    return monotonicTime(this.#now());
  }

  wallMs(): number {
    return systemClock.wallMs() + this.skippedMs + this.wallOffsetMs;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    const timer = { dueMs: this.#now() + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    void this.#pump();
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  #now(): number {
    return Math.floor(performance.now()) + this.skippedMs;
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!(await this.#isQuiet(next))) continue;
      this.#timers.delete(next);
      this.skippedMs += Math.max(0, next.dueMs - this.#now());
      next.callback();
    }
    this.#isPumping = false;
  }

  #next(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer.dueMs < earliest.dueMs) earliest = timer;
    return earliest !== undefined && earliest.dueMs - this.#now() < this.#horizonMs ? earliest : undefined;
  }

  async #isQuiet(next: Timer): Promise<boolean> {
    const before = this.#activity();
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const isLong = next.dueMs - this.#now() >= LONG_MS;
    if (isLong) await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
    return this.#timers.has(next) && (!isLong || this.#activity() === before);
  }
}
