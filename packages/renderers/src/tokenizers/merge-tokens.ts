import { type MergeTable, NO_RANK } from './merge-table.js';

const NONE = -1;
/** A heap entry is rank × POSITIONS + position: the lowest rank first, of equal ranks the leftmost. Exact below 2^53. */
const POSITIONS = 2 ** 32;

/**
 * Merges neighbors until none of them is in the table: always the pair with the lowest rank, of several the leftmost. This defines byte pair encoding.
 *
 * Takes n log n steps: a text of a million equal letters is one piece for many split patterns.
 */
export class TokenMerger {
  readonly #table: MergeTable;
  /** By rank: the token that the pair becomes. */
  readonly #mergedIds: ArrayLike<number>;
  readonly #previous: Int32Array;
  readonly #next: Int32Array;
  /** By position: the rank of the pair that starts there. */
  readonly #ranks: Int32Array;
  readonly #heap: Float64Array;
  #heapSize = 0;

  /** @param capacity - How many tokens there are at most before they merge. */
  constructor(table: MergeTable, mergedIds: ArrayLike<number>, capacity: number) {
    this.#table = table;
    this.#mergedIds = mergedIds;
    this.#previous = new Int32Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#ranks = new Int32Array(capacity);
    // Every merge removes one token and queues at most two pairs.
    this.#heap = new Float64Array(capacity * 3);
  }

  /** Merges the first `length` of `ids` in place and returns how many are left. */
  merge(ids: Int32Array, length: number): number {
    if (length < 2) return length;
    this.#link(ids, length);
    const next = this.#next;
    const previous = this.#previous;
    const ranks = this.#ranks;
    while (this.#heapSize > 0) {
      const entry = this.#pop();
      const rank = Math.floor(entry / POSITIONS);
      const position = entry - rank * POSITIONS;
      // Outdated: one of the pair has merged with another neighbor since.
      if (ranks[position] !== rank) continue;
      const right = next[position] as number;
      const after = next[right] as number;
      ids[position] = this.#mergedIds[rank] as number;
      next[position] = after;
      ranks[right] = NO_RANK;
      if (after !== NONE) previous[after] = position;
      this.#rate(ids, position, after);
      const before = previous[position] as number;
      if (before !== NONE) this.#rate(ids, before, position);
    }
    let count = 0;
    for (let position = 0; position !== NONE; position = next[position] as number) ids[count++] = ids[position] as number;
    return count;
  }

  /** Makes a list of all positions, and queues every pair that merges. */
  #link(ids: Int32Array, length: number): void {
    for (let position = 0; position < length; position += 1) {
      this.#previous[position] = position - 1;
      this.#next[position] = position + 1 < length ? position + 1 : NONE;
      this.#rate(ids, position, this.#next[position] as number);
    }
  }

  /** Looks up the rank of a pair and, if it merges, queues it. */
  #rate(ids: Int32Array, left: number, right: number): void {
    const rank = right === NONE ? NO_RANK : this.#table.rankOf(ids[left] as number, ids[right] as number);
    this.#ranks[left] = rank;
    if (rank !== NO_RANK) this.#push(rank * POSITIONS + left);
  }

  #push(entry: number): void {
    const heap = this.#heap;
    let hole = this.#heapSize++;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if ((heap[parent] as number) <= entry) break;
      heap[hole] = heap[parent] as number;
      hole = parent;
    }
    heap[hole] = entry;
  }

  #pop(): number {
    const heap = this.#heap;
    const top = heap[0] as number;
    const size = --this.#heapSize;
    const last = heap[size] as number;
    let hole = 0;
    for (let child = 1; child < size; child = hole * 2 + 1) {
      if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if (last <= (heap[child] as number)) break;
      heap[hole] = heap[child] as number;
      hole = child;
    }
    heap[hole] = last;
    return top;
  }
}
