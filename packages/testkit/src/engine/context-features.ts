import { MEMORY_ORDERS, MEMORY_SLOTS, OFFSETS, START_SYMBOL, SYMBOLS } from './geometry.js';

const WINDOW = Math.max(OFFSETS, ...MEMORY_ORDERS);
const SLOT_MASK = MEMORY_SLOTS - 1;

/** The active inputs at one position: attention inputs (one per offset) and memory slots (one per n-gram order). */
export class ContextFeatures {
  readonly attention = new Int32Array(OFFSETS);
  readonly memory = new Int32Array(MEMORY_ORDERS.length);

  /** Reads the context that ends at `position` (inclusive). It depends on the last nine symbols alone, so decoding needs no cache. */
  read(context: Int32Array, position: number): void {
    const { attention, memory } = this;
    let hash = 0x9e3779b9 | 0;
    let order = 0;
    for (let back = 0; back < WINDOW; back++) {
      const symbol = position >= back ? (context[position - back] as number) : START_SYMBOL;
      if (back < OFFSETS) attention[back] = back * SYMBOLS + symbol;
      hash = Math.imul(hash ^ (symbol + 1), 0x85ebca6b);
      hash ^= hash >>> 15;
      if (back + 1 === MEMORY_ORDERS[order]) {
        const key = Math.imul(hash ^ (order * 0x27d4eb2f), 0xc2b2ae35);
        memory[order] = (key ^ (key >>> 16)) & SLOT_MASK;
        order++;
      }
    }
  }
}
