import type { Clock } from '@tinkex/http';

/** What stands in for connections where there are no sockets: calls that can be cut off, all together. */
export class MemoryConnections {
  /** The server's own, for replies that take their time. */
  readonly clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Calls `listener` when the line is cut. Returns how to stop listening. */
  onCut(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Settles as `work` does, or rejects with `lost()` when the line is cut first. */
  until<T>(work: Promise<T>, lost: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.onCut(() => reject(lost()));
      void work.then(resolve, reject).finally(stop);
    });
  }

  /** What tells the core that a client went away: its own signal, or a cut. */
  departures(signal: AbortSignal | undefined): (listener: () => void) => () => void {
    return (listener) => {
      const stop = this.onCut(listener);
      signal?.addEventListener('abort', listener, { once: true });
      return () => {
        stop();
        signal?.removeEventListener('abort', listener);
      };
    };
  }

  cut(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
