import { TinkexError } from '@tinkex/types';

/** The submissions of one call, counted up to its limit. */
export class AttemptCount {
  readonly #max: number;
  #attempts = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts a submission that failed, never beyond the limit: the error that {@link failed} throws comes by again on its way out.
   *
   * @returns Whether another may follow.
   */
  add(): boolean {
    this.#attempts = Math.min(this.#attempts + 1, this.#max);
    return this.#attempts < this.#max;
  }

  /** Counts a submission that failed, and throws its error if no other may follow. */
  readonly failed = (error: unknown): void => {
    if (!this.add()) throw error;
  };

  /** The error that ends the call, with the number of attempts on it. */
  noteOn(error: unknown): unknown {
    if (TinkexError.isInstance(error)) {
      Object.defineProperty(error, 'attempts', { value: this.#attempts, enumerable: true, configurable: true });
    }
    return error;
  }
}
