/** Sizes are rounded up to this, so that batches of nearly the same size share buffers. */
const GRAIN = 65_536;

/**
 * Reused memory for the bodies of large requests: creating and collecting a new array of a megabyte costs a process several times what
 * filling it does. Bounded: what does not fit is ordinary memory.
 *
 * A buffer may be reused only when nothing can read the old bytes any more. The server's acceptance does not prove that; its result does.
 */
export class BodyMemory {
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

  /** The memory of one pass. */
  forPass(): PassBodies {
    return new PassBodies(this);
  }

  /** An array of this length with arbitrary content. */
  take(size: number): Uint8Array {
    const buffer = this.#reuse(size) ?? this.#create(size);
    if (buffer === undefined) return new Uint8Array(size);
    this.#lent.add(buffer);
    return new Uint8Array(buffer, 0, size);
  }

  /** Takes back an array that nothing reads any more. Ordinary memory is left alone. */
  giveBack({ buffer }: Uint8Array): void {
    if (this.#lent.delete(buffer)) this.#free.push(buffer as ArrayBuffer);
  }

  /** Forgets an array that may still be read. */
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

  /** A new buffer, replacing free ones that did not fit if necessary. */
  #create(size: number): ArrayBuffer | undefined {
    const rounded = Math.ceil(size / GRAIN) * GRAIN;
    while (this.#bytes + rounded > this.#maxBytes && this.#free.length > 0) this.#bytes -= this.#free.shift()?.byteLength ?? 0;
    if (this.#bytes + rounded > this.#maxBytes) return undefined;
    this.#bytes += rounded;
    return new ArrayBuffer(rounded);
  }
}

/** The memory of the chunks of one pass, from their encoding to their results. */
export class PassBodies {
  readonly #memory: BodyMemory;
  readonly #bodies: (Uint8Array | undefined)[] = [];

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  allocate(index: number, size: number): Uint8Array {
    const bytes = this.#memory.take(size);
    this.#bodies[index] = bytes;
    return bytes;
  }

  /** The result of a chunk has arrived, so the server has read all of its body. */
  release(index: number): void {
    const bytes = this.#bodies[index];
    this.#bodies[index] = undefined;
    if (bytes !== undefined) this.#memory.giveBack(bytes);
  }

  /**
   * A chunk is sent again, or in another format. The server may have answered before it had read the previous body, which may still be in
   * transit: those bytes are never reused.
   */
  abandon(index: number): void {
    const bytes = this.#bodies[index];
    this.#bodies[index] = undefined;
    if (bytes !== undefined) this.#memory.abandon(bytes);
  }

  /** The pass is over. Bodies without a result may still be in transit. */
  end(): void {
    for (let index = 0; index < this.#bodies.length; index += 1) this.abandon(index);
  }
}
