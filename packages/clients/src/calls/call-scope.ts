import { setMaxListeners } from 'node:events';
import type { Clock } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { CallOptions } from './call-options.js';
import type { Closable, Lifetime } from './lifetime.js';
import { onAbort } from './on-abort.js';

/**
 * One signal for everything that may end a call: the caller's signal, the caller's time limit, and the closing of the client.
 * {@link end} must run when the call is over: it removes the listener, the timer and the registration.
 */
export class CallScope implements Closable {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #lifetime: Lifetime;
  #timer: unknown;
  #unfollow: (() => void) | undefined;
  #failure: AbortedError | TimeoutError | undefined;

  constructor(clock: Clock, lifetime: Lifetime, { signal, timeoutMs }: Pick<CallOptions, 'signal' | 'timeoutMs'> = {}) {
    this.#clock = clock;
    this.#lifetime = lifetime;
    // The chunks of one call all listen; Node would take more than ten for a leak.
    setMaxListeners(0, this.#controller.signal);
    if (signal !== undefined) this.#follow(signal);
    if (timeoutMs !== undefined) this.#timer = clock.setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    lifetime.add(this);
  }

  /** Aborted when the call has to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The error the caller should see: why the scope ended, if it did, else `error` itself. */
  explain(error: unknown): unknown {
    return this.#failure ?? error;
  }

  /** Stops the call from within. */
  abort(reason: unknown): void {
    this.#fail(new AbortedError({ message: 'The call was aborted', cause: reason }));
  }

  /** @internal Called by the client's lifetime. */
  onClientClosed(): void {
    this.#fail(new AbortedError({ message: 'The client was closed' }));
  }

  /** Releases everything the scope holds on to. Idempotent. */
  end(): void {
    this.#unfollow?.();
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#lifetime.remove(this);
  }

  #follow(signal: AbortSignal): void {
    const stop = (): void => this.#fail(new AbortedError({ message: 'The call was aborted', cause: signal.reason }));
    if (signal.aborted) stop();
    else this.#unfollow = onAbort(signal, stop);
  }

  #timeOut(timeoutMs: number): void {
    this.#fail(new TimeoutError({ message: `The call took longer than its limit of ${timeoutMs} ms`, phase: 'total', timeoutMs }));
  }

  #fail(failure: AbortedError | TimeoutError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#controller.abort(failure);
  }
}
