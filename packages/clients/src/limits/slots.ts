import { AbortedError } from '@tinkex/types';

/** A counting limit: at most so many inside at once, the others in line. */
export class Slots {
  readonly limit: number;
  #used = 0;
  readonly #line = new Set<() => void>();
  readonly #express = new Set<() => void>();

  /** @param limit - At least 1. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many are inside. */
  get used(): number {
    return this.#used;
  }

  /** How many stand in line. */
  get waiting(): number {
    return this.#line.size + this.#express.size;
  }

  /** Takes a slot if one is free. */
  tryEnter(): boolean {
    if (this.#used >= this.limit) return false;
    this.#used += 1;
    return true;
  }

  /**
   * Takes a slot, or waits for one in order of arrival.
   *
   * @param isExpress - Goes before everybody who is not express.
   * @param signal - Aborting leaves the line with `AbortedError`.
   */
  enter(signal?: AbortSignal, isExpress = false): Promise<void> {
    if (signal?.aborted) return Promise.reject(aborted(signal));
    if (this.#used < this.limit) {
      this.#used += 1;
      return Promise.resolve();
    }
    const line = isExpress ? this.#express : this.#line;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        line.delete(admit);
        reject(aborted(signal));
      };
      const admit = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      line.add(admit);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Gives back a slot taken by {@link enter}; it passes straight to the next in line. */
  leave(): void {
    const line = this.#express.size > 0 ? this.#express : this.#line;
    for (const admit of line) {
      line.delete(admit);
      admit();
      return;
    }
    this.#used -= 1;
  }
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'Stopped while standing in line for a free slot', cause: signal?.reason });
}
