/** Something that ends with its client. */
export interface Closable {
  onClientClosed(): void;
}

/** The life of one client: everything that must end when it is closed registers here. */
export class Lifetime {
  readonly #onClose = new Set<Closable>();
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
    const closable: Closable = { onClientClosed: callback };
    this.add(closable);
    return () => this.remove(closable);
  }

  /** Registers an object without any closures: there may be tens of thousands. Tells it at once if the client is closed already. */
  add(closable: Closable): void {
    if (this.#isClosed) closable.onClientClosed();
    else this.#onClose.add(closable);
  }

  /** Takes a registration back. */
  remove(closable: Closable): void {
    this.#onClose.delete(closable);
  }

  /** Ends everything that is registered. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const closable of this.#onClose) closable.onClientClosed();
    this.#onClose.clear();
  }
}
