/** The life of one client: everything that must end when it is closed registers here. */
export class Lifetime {
  readonly #onClose = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How much is still registered; 0 when nothing runs. */
  get size(): number {
    return this.#onClose.size;
  }

  /**
   * Runs `callback` when the client closes, at once if it is closed already.
   *
   * @returns A function that takes the registration back.
   */
  onClose(callback: () => void): () => void {
    if (this.#isClosed) {
      callback();
      return () => {};
    }
    this.#onClose.add(callback);
    return () => {
      this.#onClose.delete(callback);
    };
  }

  /** Ends everything that is registered. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const callback of this.#onClose) callback();
    this.#onClose.clear();
  }
}
