/** Sizes are rounded up to this, so that batches of nearly the same size share buffers. */
const GRAIN = 65_536;

/**
 * Memory for the bodies of large requests, used again and again: making a fresh array of a megabyte, and collecting it, costs a process several
 * times what filling it does. Bounded: what does not fit is ordinary memory.
 *
 * A buffer may be used again only when nothing can read the old bytes any more. The server's acceptance is no proof of that, its result is: whoever
 * calls {@link giveBack} must have it.
 */
export class BodyBuffers {
  readonly #maxBytes: number;
  #free: ArrayBuffer[] = [];
  readonly #lent = new Set<ArrayBufferLike>();
  #bytes = 0;

  /** @param maxBytes - Of all buffers together, lent or free. 0 never keeps any. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** All memory that is lent or free, bytes. */
  get size(): number {
    return this.#bytes;
  }

  /** An array of this length. Its content is anything. */
  readonly take = (size: number): Uint8Array => {
    const buffer = this.#reuse(size) ?? this.#make(size);
    if (buffer === undefined) return new Uint8Array(size);
    this.#lent.add(buffer);
    return new Uint8Array(buffer, 0, size);
  };

  /** Takes an array back that nobody reads any more. Ordinary memory is left alone. */
  giveBack({ buffer }: Uint8Array): void {
    if (this.#lent.delete(buffer)) this.#free.push(buffer as ArrayBuffer);
  }

  /** Forgets an array that somebody might still read. */
  abandon({ buffer }: Uint8Array): void {
    if (this.#lent.delete(buffer)) this.#bytes -= buffer.byteLength;
  }

  /** The smallest free buffer that is large enough, unless most of it would be wasted. */
  #reuse(size: number): ArrayBuffer | undefined {
    let best = -1;
    this.#free.forEach(({ byteLength }, index) => {
      const isSmaller = best < 0 || byteLength < (this.#free[best]?.byteLength ?? 0);
      if (byteLength >= size && byteLength <= 2 * size + GRAIN && isSmaller) best = index;
    });
    return best < 0 ? undefined : this.#free.splice(best, 1)[0];
  }

  /** A new buffer, in the place of free ones that did not fit if need be. */
  #make(size: number): ArrayBuffer | undefined {
    const rounded = Math.ceil(size / GRAIN) * GRAIN;
    while (this.#bytes + rounded > this.#maxBytes && this.#free.length > 0) this.#bytes -= this.#free.shift()?.byteLength ?? 0;
    if (this.#bytes + rounded > this.#maxBytes) return undefined;
    this.#bytes += rounded;
    return new ArrayBuffer(rounded);
  }
}
