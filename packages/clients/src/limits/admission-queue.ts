import { AbortedError } from '@tinkex/types';

interface Waiter {
  readonly cost: number;
  readonly admit: () => void;
}

/**
 * A limit on what is inside at once, first come, first served. Entering is synchronous when there is room, so that the common
 * case of a hot path costs no promise.
 */
export class AdmissionQueue {
  readonly limit: number;
  #remaining: number;
  readonly #floor: number;
  readonly #line = new Set<Waiter>();
  readonly #express = new Set<Waiter>();

  private constructor(limit: number, floor: number) {
    this.limit = limit;
    this.#remaining = limit;
    this.#floor = floor;
  }

  /** At most `limit` inside; each costs 1. */
  static counting(limit: number): AdmissionQueue {
    return new AdmissionQueue(limit, 1);
  }

  /**
   * A soft limit on bytes: one may enter whenever the balance is not negative, and may push it below zero. An item larger than
   * the whole limit still gets through, alone, instead of waiting for ever.
   */
  static bytes(limit: number): AdmissionQueue {
    return new AdmissionQueue(limit, 0);
  }

  /** What is inside now. May exceed a byte limit by one item. */
  get used(): number {
    return this.limit - this.#remaining;
  }

  /** How many callers stand in line. */
  get waiting(): number {
    return this.#line.size + this.#express.size;
  }

  /** Enters at once if nobody stands in line and there is room. */
  tryEnter(cost = 1): boolean {
    if (this.#remaining < this.#floor || this.waiting > 0) return false;
    this.#remaining -= cost;
    return true;
  }

  /**
   * Waits for room. Rejects with `AbortedError` when the signal fires; an aborted caller has taken nothing.
   *
   * @param isExpress - Goes before everybody who is not.
   */
  enter(cost = 1, signal?: AbortSignal, isExpress = false): Promise<void> {
    if (signal?.aborted) return Promise.reject(aborted(signal));
    if (this.tryEnter(cost)) return Promise.resolve();
    const line = isExpress ? this.#express : this.#line;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        line.delete(waiter);
        reject(aborted(signal));
      };
      const waiter: Waiter = {
        cost,
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      line.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Gives back what an entry took and admits whoever fits now. */
  leave(cost = 1): void {
    this.#remaining += cost;
    if (this.#express.size > 0) this.#admit(this.#express);
    if (this.#line.size > 0) this.#admit(this.#line);
  }

  /** The cost is taken here, so that nobody slips in between waking and running. */
  #admit(line: Set<Waiter>): void {
    for (const waiter of line) {
      if (this.#remaining < this.#floor) return;
      line.delete(waiter);
      this.#remaining -= waiter.cost;
      waiter.admit();
    }
  }
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'The call was aborted while it stood in line at one of the client limits.', cause: signal?.reason });
}
