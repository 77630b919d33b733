/** A first-in, first-out queue with a limit. What does not fit is dropped as a whole group: half a story helps nobody. */
export class EventQueue<Item> {
  readonly #maxItems: number;
  #items: Item[] = [];
  #head = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Returns whether the group was taken. */
  push(group: readonly Item[]): boolean {
    if (this.size + group.length > this.#maxItems) return false;
    this.#items.push(...group);
    return true;
  }

  /** The first items, which stay in the queue. */
  peek(count: number): readonly Item[] {
    return this.#items.slice(this.#head, this.#head + count);
  }

  /** Takes the first items out and returns how many there were. */
  remove(count: number): number {
    const removed = Math.min(count, this.size);
    this.#head += removed;
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return removed;
  }
}
