import { setMaxListeners } from 'node:events';
import type { Clock } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { CallOptions } from './call-options.js';
import type { Lifetime } from './lifetime.js';
import { onAbort } from './on-abort.js';

/**
 * One signal for everything that may end a call: the caller's signal, the caller's time limit, and the closing of the client.
 * {@link end} must run when the call is over: it removes the listener, the timer and the registration.
 */
export class CallScope {
  readonly #controller = new AbortController();
  readonly #releases: (() => void)[] = [];
  #failure: AbortedError | TimeoutError | undefined;

  constructor(clock: Clock, lifetime: Lifetime, options: Pick<CallOptions, 'signal' | 'timeoutMs'> = {}) {
    const { signal, timeoutMs } = options;
    // The chunks of one call all listen; Node would take more than ten for a leak.
    setMaxListeners(0, this.#controller.signal);
    if (signal !== undefined) this.#follow(signal);
    if (timeoutMs !== undefined) {
      const timer = clock.setTimeout(() => {
        this.#fail(new TimeoutError({ message: `The call took longer than its limit of ${timeoutMs} ms`, phase: 'total' }));
      }, timeoutMs);
      this.#releases.push(() => clock.clearTimeout(timer));
    }
    this.#releases.push(lifetime.onClose(() => this.#fail(new AbortedError({ message: 'The client was closed' }))));
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

  end(): void {
    for (const release of this.#releases) release();
    this.#releases.length = 0;
  }

  #follow(signal: AbortSignal): void {
    const stop = (): void => this.#fail(new AbortedError({ message: 'The call was aborted', cause: signal.reason }));
    if (signal.aborted) {
      stop();
      return;
    }
    this.#releases.push(onAbort(signal, stop));
  }

  #fail(failure: AbortedError | TimeoutError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#controller.abort(failure);
  }
}
