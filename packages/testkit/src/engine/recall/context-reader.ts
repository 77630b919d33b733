import { COPY_WINDOW, GATES, KEYS, NGRAM_ORDERS, START_SYMBOL } from './geometry.js';
import { RELATION_COUNT, RELATIONS } from './relations.js';

/** Local copies of imported constants, which are slower to read when modules are transformed, as in tests. */
const ORDERS = Int32Array.from(NGRAM_ORDERS);
const WINDOW = COPY_WINDOW;
const START = START_SYMBOL;
const LONGEST = ORDERS.at(-1) as number;
const HASH_START = 0x9e3779b9 | 0;
const NONE = -1;
/** The place of the prefix among the keys. The suggestion comes after it. */
const PREFIX_KEY = ORDERS.length;
/** The lengths of n-grams whose last occurrence is remembered: first those looked up at several places, then those of the suffixes. */
const MATCHED = [...RELATIONS.orders, ...RELATIONS.suffixes];

/**
 * Reads a context position by position: the keys of its n-grams, and the tokens that the relations point at. A position depends on the symbols
 * up to it alone. Positions of one context are read in rising order; anything else starts again at the first.
 */
export class ContextReader {
  /** The keys at the last position read: n-grams from the shortest to the longest, then the whole prefix, then the suggestion. */
  readonly keys = new Int32Array(KEYS);
  /** The token that each relation points at, or -1. Valid after {@link ContextReader.readSources}. */
  readonly sources = new Int32Array(RELATION_COUNT).fill(NONE);
  /** The row of the relations that depend on the last token. */
  gate = 1;
  readonly #vocabularySize: number;
  #context: Int32Array | undefined;
  #next = 0;
  #prefix = HASH_START;
  readonly #hashes = new Int32Array(LONGEST + 1);
  readonly #seen = MATCHED.map(() => new Map<number, number>());
  /** For each n-gram length of `RELATIONS.orders`: where the n-gram that ends at a position stood before, or -1. */
  #earlier = RELATIONS.orders.map(() => new Int32Array(0));
  readonly #suffixes = new Int32Array(RELATIONS.suffixes.length);

  constructor(vocabularySize: number) {
    this.#vocabularySize = vocabularySize;
  }

  /** Moves to `position`. */
  read(context: Int32Array, position: number): void {
    if (context !== this.#context || position + 1 < this.#next) this.#start(context);
    while (this.#next <= position) this.#advance(context, this.#next++);
  }

  /** Fills {@link ContextReader.sources} for the last position read. */
  readSources(): void {
    const context = this.#context as Int32Array;
    const { sources } = this;
    const { offsets, depths, steps, orders } = RELATIONS;
    const position = this.#next - 1;
    let index = 0;
    for (let back = 0; back < offsets; back++) sources[index++] = this.#tokenAt(context, position - back, position);
    for (let kind = 0; kind < orders.length; kind++) {
      const earlier = this.#earlier[kind] as Int32Array;
      const length = orders[kind] as number;
      for (let depth = 0; depth < depths; depth++) {
        const at = position - depth;
        const found = at < 0 ? NONE : (earlier[at] as number);
        for (let step = 0; step < steps.length; step++) {
          const distance = steps[step] as number;
          const source = distance > 0 ? found + distance : found - length + 1 + distance;
          sources[index++] = found === NONE ? NONE : this.#tokenAt(context, source, position);
        }
      }
    }
    for (const found of this.#suffixes) sources[index++] = found === NONE ? NONE : this.#tokenAt(context, found + 1, position);
  }

  #tokenAt(context: Int32Array, source: number, position: number): number {
    if (source < 0 || source > position || position - source > WINDOW) return NONE;
    const symbol = context[source] as number;
    return symbol < this.#vocabularySize ? symbol : NONE;
  }

  #start(context: Int32Array): void {
    this.#context = context;
    this.#next = 0;
    this.#prefix = HASH_START;
    for (const seen of this.#seen) seen.clear();
    if ((this.#earlier[0] as Int32Array).length < context.length) {
      this.#earlier = RELATIONS.orders.map(() => new Int32Array(context.length));
    }
  }

  #advance(context: Int32Array, position: number): void {
    const { keys } = this;
    const hashes = this.#hashes;
    let hash = HASH_START;
    for (let length = 1; length <= LONGEST; length++) {
      const symbol = position >= length - 1 ? (context[position - length + 1] as number) : START;
      hash = Math.imul(hash ^ (symbol + 1), 0x85ebca6b);
      hash ^= hash >>> 15;
      hashes[length] = hash;
    }
    for (let index = 0; index < ORDERS.length; index++) {
      keys[index] = finish((hashes[ORDERS[index] as number] as number) ^ Math.imul(index + 1, 0x27d4eb2f));
    }
    this.#prefix = Math.imul(this.#prefix ^ ((context[position] as number) + 1), 0xcc9e2d51);
    this.#prefix ^= this.#prefix >>> 15;
    keys[PREFIX_KEY] = finish(this.#prefix ^ 0x165667b1);
    this.gate = 1 + ((keys[0] as number) & (GATES - 1));
    keys[PREFIX_KEY + 1] = finish(Math.imul(this.#match(context, position) + 2, 0x2c1b3c6d) ^ 0x5bd1e995);
  }

  /** Finds where the n-grams that end here stood before. Returns what followed the longest of them, or -1. */
  #match(context: Int32Array, position: number): number {
    const { orders } = RELATIONS;
    let longest = 0;
    let suggestion = NONE;
    for (let index = 0; index < MATCHED.length; index++) {
      const length = MATCHED[index] as number;
      let found = NONE;
      if (position + 1 >= length) {
        const seen = this.#seen[index] as Map<number, number>;
        const hash = this.#hashes[length] as number;
        found = seen.get(hash) ?? NONE;
        if (position - found > WINDOW) found = NONE;
        seen.set(hash, position);
      }
      if (index < orders.length) (this.#earlier[index] as Int32Array)[position] = found;
      else this.#suffixes[index - orders.length] = found;
      if (found !== NONE && length > longest) {
        longest = length;
        suggestion = context[found + 1] as number;
      }
    }
    return suggestion;
  }
}

function finish(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 16), 0xc2b2ae35);
  return mixed ^ (mixed >>> 13);
}
