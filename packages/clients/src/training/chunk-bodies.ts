import type { BodyBuffers } from './body-memory.js';

/** The memory of the chunks of one pass, from their encoding to their results. */
export class ChunkBodies {
  readonly #buffers: BodyBuffers;
  readonly #bodies: (Uint8Array | undefined)[] = [];

  constructor(buffers: BodyBuffers) {
    this.#buffers = buffers;
  }

  allocate(index: number, size: number): Uint8Array {
    const bytes = this.#buffers.take(size);
    this.#bodies[index] = bytes;
    return bytes;
  }

  /** The result of a chunk is there, so the server has read all of it. */
  done(index: number): void {
    const bytes = this.#bodies[index];
    this.#bodies[index] = undefined;
    if (bytes !== undefined) this.#buffers.giveBack(bytes);
  }

  /** The pass is over. What has no result may still be on its way. */
  end(): void {
    for (let index = 0; index < this.#bodies.length; index += 1) this.forget(index);
  }

  /**
   * A chunk is sent again, or in another way: the server may have answered before it had read what was sent before, which may still be on its way. The
   * bytes stay as they are, and are never used for anything else.
   */
  forget(index: number): void {
    const bytes = this.#bodies[index];
    this.#bodies[index] = undefined;
    if (bytes !== undefined) this.#buffers.abandon(bytes);
  }
}
