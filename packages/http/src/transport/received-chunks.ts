import { concatBytes } from '../runtime/bytes.js';

/** Chunks up to this many are kept as they are: nearly every body has fewer. */
const KEPT_CHUNKS = 64;
/** Beyond that, chunks shorter than this are joined. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array(0);
/** Ten thousand requests may wait for their first byte. Never written: the first chunk creates a separate list. */
const NO_CHUNKS: Uint8Array[] = [];

/**
 * The bytes of a body that have arrived and are still to be read. A body may be cut into single bytes, each of which would cost a separate object;
 * small chunks are joined, so that memory stays in proportion to the bytes.
 */
export class ReceivedChunks {
  #chunks = NO_CHUNKS;
  /** The last chunk, if more can be written into it, and how much of it is used. */
  #block: Uint8Array | undefined;
  #used = 0;
  #bytes = 0;

  get byteLength(): number {
    return this.#bytes;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#chunks === NO_CHUNKS) this.#chunks = [];
    if (this.#chunks.length < KEPT_CHUNKS || chunk.byteLength >= SMALL_BYTES) {
      this.#closeBlock();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#block === undefined || this.#used + chunk.byteLength > BLOCK_BYTES) {
      this.#closeBlock();
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#chunks.push(this.#block);
    }
    this.#block.set(chunk, this.#used);
    this.#used += chunk.byteLength;
  }

  /** Takes the oldest bytes out, or nothing if there are none. */
  shift(): Uint8Array | undefined {
    if (this.#chunks.length === 1) this.#closeBlock();
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) this.#bytes -= chunk.byteLength;
    return chunk;
  }

  /** Takes everything out, as one piece. */
  takeAll(): Uint8Array {
    this.#closeBlock();
    const [chunks, bytes] = [this.#chunks, this.#bytes];
    this.clear();
    if (chunks.length === 1) return chunks[0] as Uint8Array;
    return chunks.length === 0 ? NO_BYTES : concatBytes(chunks, bytes);
  }

  clear(): void {
    this.#chunks = NO_CHUNKS;
    this.#block = undefined;
    this.#used = 0;
    this.#bytes = 0;
  }

  /** Cuts the block to what is used of it, and gives the rest back if that is more. */
  #closeBlock(): void {
    if (this.#block === undefined) return;
    this.#chunks[this.#chunks.length - 1] =
      this.#used * 2 < BLOCK_BYTES ? this.#block.slice(0, this.#used) : this.#block.subarray(0, this.#used);
    this.#block = undefined;
    this.#used = 0;
  }
}
