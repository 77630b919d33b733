import { geometry } from './geometry.js';

const { symbols, startSymbol, offsets, memoryOrders, memorySlots } = geometry;
const window = Math.max(offsets, ...memoryOrders);
const slotMask = memorySlots - 1;

/** The active inputs at one position: attention inputs (one per offset) and memory slots (one per n-gram order). */
export class ContextFeatures {
  readonly attention = new Int32Array(offsets);
  readonly memory = new Int32Array(memoryOrders.length);

  /** Reads the context that ends at `position` (inclusive). It depends on the last nine symbols alone, so decoding needs no cache. */
  read(context: Int32Array, position: number): void {
    const { attention, memory } = this;
    let hash = 0x9e3779b9 | 0;
    let order = 0;
    for (let back = 0; back < window; back++) {
      const symbol = position >= back ? (context[position - back] as number) : startSymbol;
      if (back < offsets) attention[back] = back * symbols + symbol;
      hash = Math.imul(hash ^ (symbol + 1), 0x85ebca6b);
      hash ^= hash >>> 15;
      if (back + 1 === memoryOrders[order]) {
        const key = Math.imul(hash ^ (order * 0x27d4eb2f), 0xc2b2ae35);
        memory[order] = (key ^ (key >>> 16)) & slotMask;
        order++;
      }
    }
  }
}
