import { fillWithRandom } from '@tinkex/http/runtime';

const BLOCK = 1_000_000_000n;

/** Hands out the sequence IDs of one sampling client. Values above 2^53 stay exact as `bigint`. */
export class SeqIds {
  /** Which block of IDs this is: 0 for the client that created the sampling session. */
  readonly block: number;
  #next: number | bigint;

  /** @param block - 0 for the client that created the sampling session; see {@link randomBlock} for others. */
  constructor(block = 0) {
    this.block = block;
    this.#next = block === 0 ? 0 : BLOCK * BigInt(block);
  }

  next(): number | bigint {
    const id = this.#next;
    this.#next = typeof id === 'bigint' ? id + 1n : id + 1;
    return id;
  }
}

/**
 * A block for another holder of the same sampling session (a worker thread, another process) when the server does not assign one: one of a
 * thousand million, none of which is the creator's.
 */
export function randomBlock(): number {
  const bytes = new BigUint64Array(1);
  fillWithRandom(new Uint8Array(bytes.buffer));
  return 1 + Number((bytes[0] as bigint) % BLOCK);
}
