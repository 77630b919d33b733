import type { Clock } from '@tinkex/http';

/**
 * A signal that fires when the caller's does, or when nothing has moved for `stallTimeoutMs`. One timer, re-armed by looking at the
 * time of the last movement, so that a fast transfer does not create a timer per block.
 */
export class StallGuard {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #stallTimeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort: () => void;
  #lastMoveMs: number;
  #timer: unknown;
  #isStalled = false;

  constructor(clock: Clock, stallTimeoutMs: number, outer?: AbortSignal) {
    this.#clock = clock;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#outer = outer;
    this.#lastMoveMs = clock.now();
    this.#onOuterAbort = () => this.#controller.abort(outer?.reason);
    if (outer?.aborted) this.#onOuterAbort();
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
    this.#arm(stallTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the signal fired because nothing moved. */
  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Bytes have come. */
  noteMove(): void {
    this.#lastMoveMs = this.#clock.now();
  }

  /** Ends the watch; the timer and the listener are gone. */
  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuterAbort);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const idleMs = this.#clock.now() - this.#lastMoveMs;
      if (idleMs < this.#stallTimeoutMs) {
        this.#arm(this.#stallTimeoutMs - idleMs);
        return;
      }
      this.#isStalled = true;
      this.#controller.abort();
    }, delayMs);
  }
}
