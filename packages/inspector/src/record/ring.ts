/** The newest `capacity` items, numbered from 0 since the beginning. */
export class Ring<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #dropped = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many items there have been. */
  get total(): number {
    return this.#dropped + this.#items.length;
  }

  get items(): readonly T[] {
    return this.#items.slice(-this.#capacity);
  }

  push(item: T): void {
    this.#items.push(item);
    // Removing one at a time would move all others each time.
    if (this.#items.length < 2 * this.#capacity) return;
    this.#dropped += this.#items.length - this.#capacity;
    this.#items = this.#items.slice(-this.#capacity);
  }

  /** The items with a number of `after` or more that are still there. */
  since(after: number): readonly T[] {
    return this.#items.slice(Math.max(0, after - this.#dropped)).slice(-this.#capacity);
  }
}
