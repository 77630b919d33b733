import { elapsedMs, type MonotonicTime, onAbort } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { CallOptions } from './call-options.js';
import { type FailedAttempts, failedAttempts, isStepOf } from './failed-attempts.js';
import type { Runtime } from './runtime.js';

/** A call that ends with its client. */
export interface Closable {
  onClientClosed(): void;
}

/** The lifetime of one client. Everything that must end when the client closes registers here: first the calls end, then the rest. */
export class ClientLifetime {
  readonly #calls = new Set<Closable>();
  readonly #callbacks = new Set<() => void>();
  #isClosed = false;

  /** Whether the client is closed, or about to close and takes no new calls. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many registrations there are; 0 when nothing runs. */
  get size(): number {
    return this.#calls.size + this.#callbacks.size;
  }

  /**
   * Runs `callback` when the client closes, after its calls have ended; immediately if it is closed already.
   *
   * @returns A function that removes the registration.
   */
  onClose(callback: () => void): () => void {
    if (this.#isClosed) callback();
    else this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Registers a call without a closure: there may be tens of thousands. Ends it immediately if the client is closed already. */
  add(call: Closable): void {
    if (this.#isClosed) call.onClientClosed();
    else this.#calls.add(call);
  }

  remove(call: Closable): void {
    this.#calls.delete(call);
  }

  /** Ends the calls and refuses new ones. What they run on stays until {@link close}. */
  endCalls(): void {
    this.#isClosed = true;
    for (const call of this.#calls) call.onClientClosed();
    this.#calls.clear();
  }

  /** Ends everything that is registered. Idempotent. */
  close(): void {
    this.endCalls();
    for (const callback of this.#callbacks) callback();
    this.#callbacks.clear();
  }
}

/**
 * One signal for everything that may end a call: the caller's signal, the caller's time limit, and the closing of the client.
 * Call {@link end} when the call is over: it removes the listener, the timer and the registration.
 */
export class CallScope implements Closable {
  readonly #runtime: Pick<Runtime, 'clock' | 'lifetime'>;
  readonly #outerSignal: AbortSignal | undefined;
  readonly #hasOwnCause: boolean;
  #controller: AbortController | undefined;
  #timer: unknown;
  #unfollow: (() => void) | undefined;
  #failure: AbortedError | TimeoutError | undefined;

  /** @param startedAt - When the caller's time limit began, if that was earlier. */
  constructor(
    runtime: Pick<Runtime, 'clock' | 'lifetime'>,
    { signal, timeoutMs }: CallOptions = {},
    startedAt: MonotonicTime = runtime.clock.monotonicMs(),
  ) {
    const { clock, lifetime } = runtime;
    this.#runtime = runtime;
    this.#outerSignal = signal;
    this.#hasOwnCause = signal !== undefined || timeoutMs !== undefined;
    if (signal?.aborted) this.#fail(callAborted(signal.reason));
    else if (signal !== undefined) this.#unfollow = onAbort(signal, () => this.#fail(callAborted(signal.reason)));
    if (timeoutMs !== undefined) {
      this.#timer = clock.setTimeout(() => this.#fail(this.#timedOut(timeoutMs)), Math.max(timeoutMs - elapsedMs(clock, startedAt), 0));
    }
    lifetime.add(this);
  }

  /** Aborted when the call has to stop. Created on first use: signals and their listeners are expensive on a hot path. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#outerSignal !== undefined) isStepOf(this.#controller.signal, this.#outerSignal);
      if (this.#failure !== undefined) this.#controller.abort(this.#failure);
    }
    return this.#controller.signal;
  }

  /**
   * The signal for HTTP requests, or undefined when only the closing of the client can end the call: closing ends the HTTP client, and with
   * it every request, anyway.
   */
  get requestSignal(): AbortSignal | undefined {
    return this.#hasOwnCause ? this.signal : undefined;
  }

  /** Why the call has to stop, once it has to. */
  get failure(): AbortedError | TimeoutError | undefined {
    return this.#failure;
  }

  /** @throws Why the call has to stop, if it has to. */
  throwIfEnded(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The error that the caller should see: why the scope ended, if it did, otherwise `error` itself. */
  explain(error: unknown): unknown {
    return this.#failure ?? error;
  }

  /** Runs a call of several steps under one signal and one time limit, and ends the scope. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      this.throwIfEnded();
      return await work(this.signal);
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.end();
    }
  }

  /** Stops the call from within. */
  abort(reason: unknown): void {
    this.#fail(callAborted(reason));
  }

  /** Called by the client's lifetime. */
  onClientClosed(): void {
    this.#fail(clientClosed());
  }

  /** Releases everything that the scope holds. Idempotent. */
  end(): void {
    const { clock, lifetime } = this.#runtime;
    this.#unfollow?.();
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer);
    lifetime.remove(this);
  }

  /** What the server is known to do with the call, for the error of a time limit; empty if nothing. */
  protected describeProgress(): string {
    return '';
  }

  #timedOut(timeoutMs: number): TimeoutError {
    const failed = failedAttempts(this.#controller?.signal);
    const message = `The call took longer than its limit of ${timeoutMs} ms.${describeFailures(failed)}${this.describeProgress()}`;
    return new TimeoutError({ message, phase: 'total', timeoutMs, cause: failed?.last, attempts: failed?.count });
  }

  #fail(failure: AbortedError | TimeoutError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#controller?.abort(failure);
  }
}

/** @throws AbortedError when the call is over before it begins: nothing is started for it. */
export function throwIfAborted({ signal }: CallOptions): void {
  if (signal?.aborted) throw callAborted(signal.reason);
}

/** Why the calls of a closed client end. */
export function clientClosed(): AbortedError {
  return new AbortedError({ message: 'The client was closed.' });
}

function callAborted(reason: unknown): AbortedError {
  return new AbortedError({ message: 'The call was aborted.', cause: reason });
}

function describeFailures(failed: FailedAttempts | undefined): string {
  if (failed === undefined) return '';
  const { count, last, status } = failed;
  const reason = last instanceof Error ? last.message : status === undefined ? 'no answer' : `status ${status}`;
  return ` ${count === 1 ? 'One attempt' : `${count} attempts`} had failed, the last with: ${reason.replace(/\.?$/, '.')}`;
}
