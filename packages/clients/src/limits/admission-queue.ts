import { onAbort } from '@tinkex/http';
import { AbortedError } from '@tinkex/types';

interface Waiter {
  readonly cost: number;
  readonly admit: () => void;
}

/**
 * A limit on what is inside at the same time, first come, first served. Entering is synchronous when there is room, so that the common
 * case of a hot path costs no promise.
 */
export class AdmissionQueue {
  readonly limit: number;
  #remaining: number;
  readonly #floor: number;
  readonly #queue = new Set<Waiter>();
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
   * A soft limit on bytes: an item may enter whenever the balance is not negative, and may push it below zero. An item larger than the
   * whole limit still gets through, alone, instead of waiting forever. A negative limit, with which nothing ever would, counts as 0: one at a time.
   */
  static bytes(limit: number): AdmissionQueue {
    return new AdmissionQueue(Math.max(0, limit), 0);
  }

  /** What is inside now. May exceed a byte limit by one item. */
  get used(): number {
    return this.limit - this.#remaining;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#queue.size + this.#express.size;
  }

  /** Enters immediately if no caller waits and there is room. */
  tryEnter(cost = 1): boolean {
    if (this.#remaining < this.#floor || this.waiting > 0) return false;
    this.#remaining -= cost;
    return true;
  }

  /**
   * Waits for room. Rejects with `AbortedError` when the signal fires; an aborted caller has taken nothing.
   *
   * @param isExpress - Goes before all callers that are not.
   */
  enter(cost = 1, signal?: AbortSignal, isExpress = false): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortedWhileQueued(signal));
    if (this.tryEnter(cost)) return Promise.resolve();
    const queue = isExpress ? this.#express : this.#queue;
    return new Promise((resolve, reject) => {
      let unfollow: (() => void) | undefined;
      const admit = (): void => {
        unfollow?.();
        resolve();
      };
      const waiter: Waiter = { cost, admit };
      queue.add(waiter);
      if (signal === undefined) return;
      unfollow = onAbort(signal, () => {
        queue.delete(waiter);
        reject(abortedWhileQueued(signal));
      });
    });
  }

  /** Returns what an entry took and admits the callers that fit now. */
  leave(cost = 1): void {
    this.#remaining += cost;
    if (this.#express.size > 0) this.#admit(this.#express);
    if (this.#queue.size > 0) this.#admit(this.#queue);
  }

  /** Takes the cost here, so that no other caller gets in between waking and running. */
  #admit(queue: Set<Waiter>): void {
    for (const waiter of queue) {
      if (this.#remaining < this.#floor) return;
      queue.delete(waiter);
      this.#remaining -= waiter.cost;
      waiter.admit();
    }
  }
}

function abortedWhileQueued(signal: AbortSignal): AbortedError {
  return new AbortedError({ message: 'The call was aborted while it was queued at one of the client limits.', cause: signal.reason });
}
