/** Something that ends with its client. */
export interface Closable {
  onClientClosed(): void;
}

/** The lifetime of one `ServiceClient`. Everything that must end when the client closes registers here. */
export class ClientLifetime {
  readonly #closables = new Set<Closable>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many registrations there are; 0 when nothing runs. */
  get size(): number {
    return this.#closables.size;
  }

  /**
   * Runs `callback` when the client closes, immediately if it is closed already.
   *
   * @returns A function that removes the registration.
   */
  onClose(callback: () => void): () => void {
    const closable: Closable = { onClientClosed: callback };
    this.add(closable);
    return () => this.remove(closable);
  }

  /** Registers an object without a closure: there may be tens of thousands. Notifies it immediately if the client is closed already. */
  add(closable: Closable): void {
    if (this.#isClosed) closable.onClientClosed();
    else this.#closables.add(closable);
  }

  remove(closable: Closable): void {
    this.#closables.delete(closable);
  }

  /** Ends everything that is registered. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const closable of this.#closables) closable.onClientClosed();
    this.#closables.clear();
  }
}
