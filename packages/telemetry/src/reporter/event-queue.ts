import { type Clock, keepAlive } from '@tinkex/http';

/** A first-in, first-out queue with a limit. Callers can wait until what they see in it is gone. */
export class EventQueue<Item> {
  readonly #maxItems: number;
  readonly #clock: Clock;
  readonly #items: Item[] = [];
  readonly #waiters = new Set<{ readonly target: number; readonly settle: (isDrained: boolean) => void }>();
  #added = 0;
  #removed = 0;

  constructor(maxItems: number, clock: Clock) {
    this.#maxItems = maxItems;
    this.#clock = clock;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Adds all items of a group or none of them: half a story is useless. Returns whether they were added. */
  push(group: readonly Item[]): boolean {
    if (this.size + group.length > this.#maxItems) return false;
    this.#items.push(...group);
    this.#added += group.length;
    return true;
  }

  /** The first items, which stay in the queue. */
  peek(count: number): Item[] {
    return this.#items.slice(0, count);
  }

  /** Removes the first items and returns how many there were. */
  remove(count: number): number {
    const removed = this.#items.splice(0, count).length;
    this.#removed += removed;
    for (const waiter of this.#waiters) if (waiter.target <= this.#removed) waiter.settle(true);
    return removed;
  }

  /** Resolves `true` when all items that are in the queue now have been removed, `false` when the time is up. */
  whenDrained(timeoutMs: number): Promise<boolean> {
    if (this.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        target: this.#added,
        settle: (isDrained: boolean): void => {
          this.#clock.clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(isDrained);
        },
      };
      const timer = this.#clock.setTimeout(() => waiter.settle(false), timeoutMs);
      // A caller is waiting: the process must not end during a delay between two attempts, which keeps nothing alive.
      keepAlive(timer);
      this.#waiters.add(waiter);
    });
  }
}
