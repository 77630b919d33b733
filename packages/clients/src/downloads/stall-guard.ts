import { type Clock, elapsedMs, type MonotonicTime, onAbort } from '@tinkex/http';

/**
 * A signal that fires when the caller's does, or when no bytes have arrived for `stallTimeoutMs`. One timer, re-armed from the time of
 * the last bytes, so that a fast transfer does not create a timer per block.
 */
export class StallGuard {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #stallTimeoutMs: number;
  readonly #unfollow: (() => void) | undefined;
  #lastMove: MonotonicTime;
  #timer: unknown;
  #isStalled = false;

  constructor(clock: Clock, stallTimeoutMs: number, outer?: AbortSignal) {
    this.#clock = clock;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#lastMove = clock.monotonicMs();
    if (outer?.aborted) this.#controller.abort(outer.reason);
    else this.#unfollow = outer && onAbort(outer, () => this.#controller.abort(outer.reason));
    this.#arm(stallTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the signal fired because no bytes arrived. */
  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Records that bytes have arrived. */
  noteMove(): void {
    this.#lastMove = this.#clock.monotonicMs();
  }

  /** Ends the watch and removes the timer and the listener. */
  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#unfollow?.();
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const idleMs = elapsedMs(this.#clock, this.#lastMove);
      if (idleMs < this.#stallTimeoutMs) {
        this.#arm(this.#stallTimeoutMs - idleMs);
        return;
      }
      this.#isStalled = true;
      this.#controller.abort();
    }, delayMs);
  }
}
