import { AbortedError } from '@tinkex/types';

interface Waiter {
  readonly cost: number;
  readonly admit: () => void;
}

/**
 * Admits callers in the order they came while the remaining amount is at least `floor`: with floor 1 and cost 1 a counting limit,
 * with floor 0 a soft byte limit that an oversized item may overshoot. Entering is synchronous when there is room, so that the
 * common case of a hot path costs no promise.
 */
export class AdmissionQueue {
  readonly limit: number;
  #remaining: number;
  readonly #floor: number;
  readonly #waiters = new Set<Waiter>();

  constructor(limit: number, floor: number) {
    this.limit = limit;
    this.#remaining = limit;
    this.#floor = floor;
  }

  /** What is left; below zero when an oversized entry was let in. */
  get remaining(): number {
    return this.#remaining;
  }

  /** How many callers stand in line. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Enters at once if nobody stands in line and there is room. */
  tryEnter(cost: number): boolean {
    if (this.#remaining < this.#floor || this.#waiters.size > 0) return false;
    this.#remaining -= cost;
    return true;
  }

  /**
   * Waits for room in first-come order. Rejects with `AbortedError` when the signal fires; an aborted caller has taken nothing.
   */
  enter(cost: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(aborted(signal));
    if (this.tryEnter(cost)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(aborted(signal));
        // The one who left may have been all that stood between the next one and the remaining room.
        this.#admit();
      };
      const waiter: Waiter = {
        cost,
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Gives back what an entry took and admits whoever fits now. */
  leave(cost: number): void {
    this.#remaining += cost;
    if (this.#waiters.size > 0) this.#admit();
  }

  #admit(): void {
    for (const waiter of this.#waiters) {
      if (this.#remaining < this.#floor) return;
      this.#waiters.delete(waiter);
      this.#remaining -= waiter.cost;
      waiter.admit();
    }
  }
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'The call was aborted while it waited for its turn.', cause: signal?.reason });
}
