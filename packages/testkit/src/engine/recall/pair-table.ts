/** The number of pairs that a new table has room for. */
const FIRST_CAPACITY = 1_024;
const NONE = -1;

/**
 * A growing table of weights, one for each pair of a key and a token that occurred. The pairs of a key form a chain. Everything is kept in the order
 * in which pairs were added, so a table that is stored and read again gives the same sums.
 */
export class PairTable {
  readonly limit: number;
  #count = 0;
  #keys: Int32Array;
  #tokens: Int32Array;
  #weights: Float32Array;
  #next: Int32Array;
  /** Open addressing: the newest pair of each key. */
  #heads: Int32Array;

  /** @param limit - The most pairs it holds; more are ignored. */
  constructor(limit: number) {
    this.limit = limit;
    this.#keys = new Int32Array(FIRST_CAPACITY);
    this.#tokens = new Int32Array(FIRST_CAPACITY);
    this.#weights = new Float32Array(FIRST_CAPACITY);
    this.#next = new Int32Array(FIRST_CAPACITY);
    this.#heads = new Int32Array(2 * FIRST_CAPACITY).fill(NONE);
  }

  /** The number of pairs. */
  get count(): number {
    return this.#count;
  }

  /** The number of pairs that fit into the arrays. */
  get capacity(): number {
    return this.#keys.length;
  }

  /** By pair. These arrays, and the next three, are longer than `count`, and replaced when the table grows. */
  get weights(): Float32Array {
    return this.#weights;
  }

  get keys(): Int32Array {
    return this.#keys;
  }

  get tokens(): Int32Array {
    return this.#tokens;
  }

  /** The next pair of the same key, or -1. */
  get next(): Int32Array {
    return this.#next;
  }

  /** The first pair of a key, or -1. */
  first(key: number): number {
    return this.#heads[this.#slotOf(key)] as number;
  }

  /** The pair of a key and a token, or -1. */
  find(key: number, token: number): number {
    let pair = this.first(key);
    while (pair !== NONE && this.#tokens[pair] !== token) pair = this.#next[pair] as number;
    return pair;
  }

  /** Adds a pair with the weight 0, unless it exists or the table is full. */
  add(key: number, token: number): void {
    if (this.#count >= this.limit || this.find(key, token) !== NONE) return;
    if (this.#count === this.capacity) this.reserve(2 * this.capacity);
    this.#keys[this.#count] = key;
    this.#tokens[this.#count] = token;
    this.#link(this.#count++);
  }

  /** Makes room for at least `capacity` pairs. */
  reserve(capacity: number): void {
    let room = this.capacity;
    while (room < capacity) room *= 2;
    if (room === this.capacity) return;
    this.#keys = grown(this.#keys, new Int32Array(room));
    this.#tokens = grown(this.#tokens, new Int32Array(room));
    this.#weights = grown(this.#weights, new Float32Array(room));
    this.index(this.#count);
  }

  /** Takes the first `count` pairs of the arrays as the content of the table. */
  index(count: number): void {
    this.#count = count;
    this.#next = new Int32Array(this.capacity);
    this.#heads = new Int32Array(2 * this.capacity).fill(NONE);
    for (let pair = 0; pair < count; pair++) this.#link(pair);
  }

  #link(pair: number): void {
    const slot = this.#slotOf(this.#keys[pair] as number);
    this.#next[pair] = this.#heads[slot] as number;
    this.#heads[slot] = pair;
  }

  /** Where the key is, or where it would go. */
  #slotOf(key: number): number {
    const mask = this.#heads.length - 1;
    let slot = (Math.imul(key, 0x9e3779b1) >>> 7) & mask;
    for (;;) {
      const pair = this.#heads[slot] as number;
      if (pair === NONE || this.#keys[pair] === key) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

/** `target`, starting with the content of `source`. */
export function grown<T extends Int32Array | Float32Array | Float64Array>(source: T, target: T): T {
  target.set(source as never);
  return target;
}
