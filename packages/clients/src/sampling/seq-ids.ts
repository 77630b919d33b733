import { randomInt } from 'node:crypto';

const BLOCK = 1_000_000_000n;

/** Hands out the `seq_id`s of one sampling client. Values above 2^53 stay exact as `bigint`. */
export class SeqIds {
  #next: number | bigint;

  /** @param first - 0 for the client that created the sampling session; see {@link SeqIds.forCopy} for others. */
  constructor(first: number | bigint = 0) {
    this.#next = first;
  }

  /**
   * For another holder of the same sampling session (a worker thread, another process): starts in one of a thousand million blocks
   * of numbers, picked at random, none of which is the creator's.
   */
  static forCopy(block: number = randomInt(Number(BLOCK))): SeqIds {
    return new SeqIds(BLOCK * (BigInt(block) + 1n));
  }

  next(): number | bigint {
    const id = this.#next;
    this.#next = typeof id === 'bigint' ? id + 1n : id + 1;
    return id;
  }
}
