import { setMaxListeners } from 'node:events';
import type { Clock } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { CallOptions } from './call-options.js';
import type { Closable, Lifetime } from './client-lifetime.js';
import { onAbort } from './on-abort.js';

/**
 * One signal for everything that may end a call: the caller's signal, the caller's time limit, and the closing of the client.
 * {@link end} must run when the call is over: it removes the listener, the timer and the registration.
 */
export class CallScope implements Closable {
  #controller: AbortController | undefined;
  readonly #hasOwnCause: boolean;
  readonly #clock: Clock;
  readonly #lifetime: Lifetime;
  #timer: unknown;
  #unfollow: (() => void) | undefined;
  #failure: AbortedError | TimeoutError | undefined;

  /** @param startedAtMs - When the caller's time limit began, if that was earlier. */
  constructor(
    clock: Clock,
    lifetime: Lifetime,
    { signal, timeoutMs }: Pick<CallOptions, 'signal' | 'timeoutMs'> = {},
    startedAtMs = clock.now(),
  ) {
    this.#clock = clock;
    this.#lifetime = lifetime;
    this.#hasOwnCause = signal !== undefined || timeoutMs !== undefined;
    if (signal !== undefined) this.#follow(signal);
    if (timeoutMs !== undefined) {
      this.#timer = clock.setTimeout(() => this.#timeOut(timeoutMs), Math.max(timeoutMs - (clock.now() - startedAtMs), 0));
    }
    lifetime.add(this);
  }

  /** Aborted when the call has to stop. Made when it is first asked for: signals and their listeners are dear on a hot path. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // The chunks of one call all listen; Node would take more than ten for a leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.#failure !== undefined) this.#controller.abort(this.#failure);
    }
    return this.#controller.signal;
  }

  /**
   * The signal for HTTP requests, or none when only the closing of the client can end the call: that ends its HTTP client, and with it
   * every request, anyway.
   */
  get requestSignal(): AbortSignal | undefined {
    return this.#hasOwnCause ? this.signal : undefined;
  }

  /** Why the call has to stop, once it has to. */
  get failure(): AbortedError | TimeoutError | undefined {
    return this.#failure;
  }

  /** The error the caller should see: why the scope ended, if it did, else `error` itself. */
  explain(error: unknown): unknown {
    return this.#failure ?? error;
  }

  /** Does the work of a call that has several steps: one signal and one time limit for all of them. Ends the scope. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      if (this.signal.aborted) throw this.signal.reason;
      return await work(this.signal);
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.end();
    }
  }

  /** Stops the call from within. */
  abort(reason: unknown): void {
    this.#fail(new AbortedError({ message: 'The call was aborted', cause: reason }));
  }

  /** @internal Called by the client's lifetime. */
  onClientClosed(): void {
    this.#fail(clientClosed());
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
    this.#controller?.abort(failure);
  }
}

/** Why calls of a closed client end. */
export function clientClosed(): AbortedError {
  return new AbortedError({ message: 'The client was closed' });
}
