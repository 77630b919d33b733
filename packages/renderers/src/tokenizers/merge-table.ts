/** Returned by {@link MergeTable.rankOf} for two tokens that do not merge: larger than every rank. */
export const NO_RANK = 0x7fff_ffff;

const EMPTY = -1;
const SLOT = 3;

/**
 * Which neighbors merge, and in which order: (left ID, right ID) to rank. An open-addressing hash table in one typed array, three integers per slot. A `Map` would
 * need one key object per pair and several times the memory.
 */
export class MergeTable {
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** @param size - How many pairs will be added at most. */
  constructor(size: number) {
    // Half full at most, so that a search ends after one or two slots.
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(size, 1) * 2));
    this.#slots = new Int32Array(capacity * SLOT).fill(EMPTY);
    this.#mask = capacity - 1;
  }

  /** Adds a pair. Of a pair that is added twice, the first rank stays. */
  add(left: number, right: number, rank: number): void {
    const slots = this.#slots;
    let slot = hashOf(left, right) & this.#mask;
    while (slots[slot * SLOT] !== EMPTY) {
      if (slots[slot * SLOT] === left && slots[slot * SLOT + 1] === right) return;
      slot = (slot + 1) & this.#mask;
    }
    slots[slot * SLOT] = left;
    slots[slot * SLOT + 1] = right;
    slots[slot * SLOT + 2] = rank;
  }

  /** The rank of a pair, or {@link NO_RANK}. Lower ranks merge first. */
  rankOf(left: number, right: number): number {
    const slots = this.#slots;
    let slot = hashOf(left, right) & this.#mask;
    for (;;) {
      const place = slot * SLOT;
      const found = slots[place] as number;
      if (found === left && slots[place + 1] === right) return slots[place + 2] as number;
      if (found === EMPTY) return NO_RANK;
      slot = (slot + 1) & this.#mask;
    }
  }
}

function hashOf(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e37_79b1) ^ Math.imul(right, 0x85eb_ca6b);
  return mixed ^ (mixed >>> 15);
}
