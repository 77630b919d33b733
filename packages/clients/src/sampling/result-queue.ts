/** Calls under way, taken out in the order they finish or in the order they were added. Single consumer. */
export class ResultLine<Item extends { readonly index: number }> {
  readonly #isInputOrder: boolean;
  readonly #finished = new Map<number, Item>();
  #size = 0;
  #nextIndex = 0;
  #wake: (() => void) | undefined;

  constructor(order: 'completion' | 'input') {
    this.#isInputOrder = order === 'input';
  }

  /** Calls under way, and finished ones that were not taken yet. */
  get size(): number {
    return this.#size;
  }

  /** Adds a call that never rejects. Indexes start at 0 and grow by 1. */
  add(result: Promise<Item>): void {
    this.#size += 1;
    // A push to one place instead of a race over all: a race would add a reaction to every call for every item taken.
    void result.then((item) => {
      this.#finished.set(item.index, item);
      if (this.#peek() !== undefined) this.#wake?.();
    });
  }

  /** Takes the next item if it is there. */
  take(): Item | undefined {
    const item = this.#peek();
    if (item === undefined) return undefined;
    this.#finished.delete(item.index);
    this.#size -= 1;
    this.#nextIndex += 1;
    return item;
  }

  /** Wakes the consumer although {@link take} may have nothing to give. */
  wake(): void {
    this.#wake?.();
  }

  /** Resolves when {@link take} has something to give, or on {@link wake}. One promise a wait: one for all would keep every wait for ever. */
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
