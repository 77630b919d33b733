import type { MonotonicTime } from '@tinkex/http';
import type { CallOptions, CallStep } from '../runtime/call-options.js';
import { CallScope } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';
import { ApiFuture } from './api-future.js';
import { FutureCore, type FutureView } from './future-core.js';
import type { PollObserver, PollScope } from './poller.js';

/** A running call, as the functions that do its work see it: independent of the type of its result. */
export interface OngoingCall extends PollScope {
  /** The state of the future; polls report to it. */
  readonly core: FutureView<unknown> & PollObserver;
  readonly headers: CallOptions['headers'];
  /** When the method was called, on the injected clock. */
  readonly startedAt: MonotonicTime;
  /** What the requests of this call are sent with. */
  readonly step: CallStep & { readonly isScoped: true };
  /** @throws Why the call has to stop, if it has to. */
  throwIfEnded(): void;
  /** Records that the server has accepted everything: the request IDs, in data order. */
  accept(requestIds: readonly string[]): void;
  /** Sets what is done once when the call is over, whatever its outcome. */
  atEnd(release: () => void): void;
}

/**
 * One call of a method that returns a future: the limits that may end it, and the future that shows its progress. The method creates it,
 * starts an async function with it, and returns `call.settleWith(thatFunction(call, …))`. What the function does before its first `await`
 * happens within the user's call, which fixes the order of operations.
 */
export class RunningCall<T> extends CallScope implements OngoingCall {
  readonly core: FutureCore<T>;
  readonly headers: CallOptions['headers'];
  readonly #runtime: Runtime;
  readonly #isReported: boolean;
  #release: (() => void) | undefined;

  /**
   * @param requestType - The operation's name in the protocol, such as `OptimStep`.
   * @param isReported - Whether the service learns of a failure. Default true.
   */
  constructor(runtime: Runtime, requestType: string, options: CallOptions, isReported = true) {
    super(runtime, options);
    this.core = new FutureCore<T>({ requestType, clock: runtime.clock, source: runtime.source });
    this.headers = options.headers;
    this.#runtime = runtime;
    this.#isReported = isReported;
  }

  get startedAt(): MonotonicTime {
    return this.core.startedAt;
  }

  get step(): CallStep & { readonly isScoped: true } {
    return { signal: this.signal, headers: this.headers, callId: this.core.callId, isScoped: true };
  }

  accept(requestIds: readonly string[]): void {
    this.core.accept(requestIds);
  }

  atEnd(release: () => void): void {
    this.#release = release;
  }

  override end(): void {
    super.end();
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }

  protected override describeProgress(): string {
    const { requestIds } = this.core;
    if (requestIds.length === 0) return ' The server had not accepted the operation.';
    return ` The server has accepted the operation (request ID ${requestIds.join(', ')}) and may still run it.`;
  }

  /** Settles the future with the outcome of the work, and returns the future. */
  settleWith(work: Promise<T>): ApiFuture<T> {
    // Not an async function: tens of thousands of futures may be pending, and a frame for each would be most of their memory.
    work.then(
      (value) => this.resolve(value),
      (error: unknown) => this.reject(error),
    );
    return ApiFuture.of(this.core);
  }

  resolve(value: T): void {
    this.end();
    this.core.resolve(value);
  }

  reject(error: unknown): void {
    const failure = this.explain(error);
    this.core.reject(failure);
    // Parts of a failed call that still wait or poll have no caller any more.
    this.abort(error);
    this.end();
    if (this.#isReported) this.#runtime.report.capture(failure);
  }
}
