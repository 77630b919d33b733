import type { Clock } from '@tinkex/http';
import { type Delivery, deliveredPieces, planDelivery } from '../faults/faults.js';
import { bytesOf, type ServerReply } from '../requests/message.js';

/** The errors that a client without a socket gets when a call ends early. */
export interface CallErrors {
  lost(phase: 'head' | 'body'): Error;
  aborted(signal: AbortSignal): unknown;
}

/** Replaces sockets for calls in memory: all of them can be cut off together. */
export class MemoryConnections {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(signal: AbortSignal | undefined, errors: CallErrors): MemoryConnection {
    return new MemoryConnection(this.#clock, this.#listeners, signal, errors);
  }

  /** Loses every open connection. */
  cut(): void {
    callAndForget(this.#listeners);
  }
}

function callAndForget(listeners: Set<() => void>): void {
  const all = [...listeners];
  listeners.clear();
  for (const listener of all) listener();
}

/** One call without a socket: it ends early when its signal aborts or the connections are cut. */
export class MemoryConnection {
  readonly #clock: Clock;
  readonly #cutListeners: Set<() => void>;
  readonly #signal: AbortSignal | undefined;
  readonly #errors: CallErrors;

  constructor(clock: Clock, cutListeners: Set<() => void>, signal: AbortSignal | undefined, errors: CallErrors) {
    this.#clock = clock;
    this.#cutListeners = cutListeners;
    this.#signal = signal;
    this.#errors = errors;
  }

  /** Calls `listener` when the client goes away. Returns a function that stops listening. */
  readonly onAbort = (listener: () => void): (() => void) => {
    this.#cutListeners.add(listener);
    this.#signal?.addEventListener('abort', listener, { once: true });
    return () => {
      this.#cutListeners.delete(listener);
      this.#signal?.removeEventListener('abort', listener);
    };
  };

  /** Settles as `work` does, or rejects as soon as the connection is gone. */
  whileOpen<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(this.#signal?.aborted ? this.#errors.aborted(this.#signal) : this.#errors.lost('head'));
      const stop = this.onAbort(fail);
      if (this.#signal?.aborted) fail();
      void work.then(resolve, reject).finally(stop);
    });
  }

  /** Receives a reply as its fault says. Rejects, or waits forever, when the headers do not arrive whole. */
  async receive(reply: ServerReply): Promise<{ readonly headers: Record<string, string>; readonly body: Uint8Array | MemoryBody }> {
    const bytes = bytesOf(reply.body);
    if (reply.fault === undefined) return { headers: { ...reply.headers, 'content-length': String(bytes.length) }, body: bytes };
    const delivery = planDelivery(bytes, reply.fault);
    if (delivery.head !== 'whole') await this.whileOpen(this.#breakOff(delivery, 'head'));
    const pieces = this.#pieces(delivery);
    const headers = { ...reply.headers, 'content-length': String(delivery.contentLength) };
    return { headers, body: { next: () => this.whileOpen(pieces.next()) } };
  }

  async *#pieces(delivery: Delivery): AsyncGenerator<Uint8Array, undefined> {
    yield* deliveredPieces(delivery, this.#clock);
    if (delivery.end !== 'complete') await this.#breakOff(delivery, 'body');
  }

  async #breakOff({ end }: Delivery, phase: 'head' | 'body'): Promise<void> {
    if (end === 'stall') await new Promise(() => undefined);
    if (end === 'reset-all') callAndForget(this.#cutListeners);
    throw this.#errors.lost(phase);
  }
}

/** A body that arrives in pieces, and may break off. */
export type MemoryBody = Pick<AsyncIterator<Uint8Array, undefined>, 'next'>;
