import { AbortedError } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import { sleep } from '../clock/sleep.js';
import type { CancellationListener } from '../transport/transport.js';

/** Everything a client has under way, so that closing the client ends it. */
export class Lifetime {
  readonly #active = new Set<CancellationListener>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many attempts and waits are under way. */
  get size(): number {
    return this.#active.size;
  }

  enter(work: CancellationListener): void {
    this.#active.add(work);
  }

  leave(work: CancellationListener): void {
    this.#active.delete(work);
  }

  /** Waits; the signal and `close` both end it at once with `AbortedError`. */
  async wait(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const closing = new AbortController();
    const relay = (): void => closing.abort(signal?.reason);
    const work: CancellationListener = { cancelled: (reason) => closing.abort(reason) };
    if (signal?.aborted) relay();
    signal?.addEventListener('abort', relay, { once: true });
    this.enter(work);
    try {
      await sleep(clock, delayMs, closing.signal);
    } finally {
      this.leave(work);
      signal?.removeEventListener('abort', relay);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const work of [...this.#active]) work.cancelled(closedError());
  }
}

/** The error of a call on a closed client. */
export function closedError(): AbortedError {
  return new AbortedError({ message: 'The client is closed.' });
}
