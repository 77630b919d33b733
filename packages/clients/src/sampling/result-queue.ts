/** Calls in progress, taken in the order they finish or in the order they were added. Single consumer. */
export class ResultQueue<Item extends { readonly index: number }> {
  readonly #isInputOrder: boolean;
  readonly #finished = new Map<number, Item>();
  #size = 0;
  #nextIndex = 0;
  #wake: (() => void) | undefined;

  constructor(order: 'completion' | 'input') {
    this.#isInputOrder = order === 'input';
  }

  /** Calls in progress, and finished ones that were not taken yet. */
  get size(): number {
    return this.#size;
  }

  /** Adds a call that never rejects. Indexes start at 0 and grow by 1. */
  add(result: Promise<Item>): void {
    this.#size += 1;
    // Not a race over all calls: a race would add a reaction to every call for every item taken.
    void result.then((item) => {
      this.#finished.set(item.index, item);
      if (this.#peek() !== undefined) this.#wake?.();
    });
  }

  /** Takes the next item if there is one. */
  take(): Item | undefined {
    const item = this.#peek();
    if (item === undefined) return undefined;
    this.#finished.delete(item.index);
    this.#size -= 1;
    this.#nextIndex += 1;
    return item;
  }

  /** Wakes the consumer although {@link take} may return nothing. */
  wake(): void {
    this.#wake?.();
  }

  /** Resolves when {@link take} has an item, or on {@link wake}. One promise per wait: one for all would keep every wait forever. */
  ready(): Promise<void> {
    if (this.#peek() !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #peek(): Item | undefined {
    if (this.#isInputOrder) return this.#finished.get(this.#nextIndex);
    for (const item of this.#finished.values()) return item;
    return undefined;
  }
}
