/** A list of token IDs that grows, without one object per number. */
export class TokenBuffer {
  #ids = new Int32Array(1_024);
  #length = 0;

  push(id: number): void {
    if (this.#length === this.#ids.length) this.#grow(this.#length + 1);
    this.#ids[this.#length++] = id;
  }

  pushAll(ids: Int32Array): void {
    const length = this.#length + ids.length;
    if (length > this.#ids.length) this.#grow(length);
    this.#ids.set(ids, this.#length);
    this.#length = length;
  }

  /** All IDs, as an array that the buffer does not share; the buffer is empty afterwards. */
  take(): Int32Array {
    const ids = this.#ids.slice(0, this.#length);
    this.#length = 0;
    return ids;
  }

  #grow(length: number): void {
    const ids = new Int32Array(Math.max(length, this.#ids.length * 2));
    ids.set(this.#ids);
    this.#ids = ids;
  }
}
