import type { CallOptions } from './call-options.js';
import { CallScope, throwIfAborted } from './call-scope.js';
import type { Runtime } from './runtime.js';
import { type WaitTarget, waitFor } from './wait-for.js';

/** Work that runs once for all callers. One caller's abort or time limit ends only its own wait. The next caller repeats failed work. */
export class SharedWork<T> {
  readonly #runtime: Pick<Runtime, 'clock' | 'lifetime'>;
  readonly #target: WaitTarget;
  #promise: Promise<T> | undefined;

  constructor(runtime: Pick<Runtime, 'clock' | 'lifetime'>, target: WaitTarget) {
    this.#runtime = runtime;
    this.#target = target;
  }

  /** Starts the work if no caller has, and waits for it. The signal that `start` receives fires only when the client closes. */
  async wait(start: (signal: AbortSignal) => Promise<T>, options: CallOptions = {}): Promise<T> {
    throwIfAborted(options);
    this.#promise ??= this.#run(start);
    return waitFor(this.#promise, this.#runtime.clock, options, this.#target);
  }

  async #run(start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await new CallScope(this.#runtime).run(start);
    } catch (error) {
      this.#promise = undefined;
      throw error;
    }
  }
}
