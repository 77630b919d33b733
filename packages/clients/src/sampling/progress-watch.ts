import type { Clock } from '@tinkex/http';

/**
 * Notices that nothing succeeds any more. The time without progress restarts at every success, and when a call enters while no
 * other is inside; when it reaches the limit, every call inside is told. One timer, however many calls.
 */
export class ProgressWatch {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #inside = new Set<() => void>();
  #lastProgressMs = 0;
  #timer: unknown;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** How many calls are being watched. */
  get inside(): number {
    return this.#inside.size;
  }

  /** Starts watching a call; `onStuck` is called at most once. Returns the function that ends the watch. */
  enter(onStuck: () => void): () => void {
    if (this.#inside.size === 0) this.#lastProgressMs = this.#clock.now();
    // A fresh function for each call, so that two calls with one callback stay two members.
    const member = (): void => onStuck();
    this.#inside.add(member);
    this.#arm();
    return () => {
      this.#inside.delete(member);
      if (this.#inside.size > 0 || this.#timer === undefined) return;
      this.#clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** A call has succeeded. */
  noteProgress(): void {
    this.#lastProgressMs = this.#clock.now();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const remaining = this.#lastProgressMs + this.#timeoutMs - this.#clock.now();
    this.#timer = this.#clock.setTimeout(() => this.#check(), Math.max(1, remaining));
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#clock.now() - this.#lastProgressMs < this.#timeoutMs) {
      this.#arm();
      return;
    }
    const stuck = [...this.#inside];
    this.#inside.clear();
    for (const tell of stuck) tell();
  }
}
