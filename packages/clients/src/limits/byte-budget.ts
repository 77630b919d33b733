import { AbortedError } from '@tinkex/types';

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * A soft limit on bytes in motion. One may enter whenever the balance is not negative, and may push it below zero: an item
 * larger than the whole limit still gets through, alone, instead of waiting for ever.
 */
export class ByteBudget {
  readonly limitBytes: number;
  #balance: number;
  readonly #waiters = new Set<Waiter>();

  /** @param limitBytes - The balance to start from; must be positive. */
  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
    this.#balance = limitBytes;
  }

  /** Bytes that are inside now. May exceed the limit by one item. */
  get usedBytes(): number {
    return this.limitBytes - this.#balance;
  }

  /** How many wait to enter. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for room and takes it.
   *
   * @param signal - Aborting gives up the wait with `AbortedError`.
   * @returns A function that gives the bytes back; calling it again does nothing.
   */
  async enter(bytes: number, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw aborted(signal);
    if (this.#waiters.size > 0 || this.#balance < 0) await this.#wait(bytes, signal);
    else this.#balance -= bytes;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#balance += bytes;
      this.#admit();
    };
  }

  #wait(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(aborted(signal));
      };
      const waiter: Waiter = {
        bytes,
        enter: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** First come, first served; the balance is taken here so that nobody slips in between waking and running. */
  #admit(): void {
    for (const waiter of this.#waiters) {
      if (this.#balance < 0) return;
      this.#waiters.delete(waiter);
      this.#balance -= waiter.bytes;
      waiter.enter();
    }
  }
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'Stopped while waiting for room in a byte budget', cause: signal?.reason });
}
