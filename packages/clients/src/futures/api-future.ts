import { showAs } from '@tinkex/types/wire';
import type { WaitOptions } from '../runtime/call-options.js';
import { waitFor } from '../runtime/wait-for.js';
import { FutureCore, type FutureView } from './future-core.js';
import type { FutureHandle, FutureProgress, FutureStatus, QueueStateChange } from './future-progress.js';
import { progressOf } from './progress-iterator.js';

/**
 * The result of an operation that runs on the server. The operation started when the method was called and continues whether or not you
 * wait for it. Awaiting, iterating and ending a wait never affect it.
 *
 * - `await future` returns the result or throws the failure.
 * - `for await (const progress of future)` shows its progress; the loop ends when the future settles, and throws if it fails.
 * - A failure that is not awaited is published as `tinkex:future:unobserved_failure`. It never becomes an unhandled rejection.
 */
export class ApiFuture<T> implements PromiseLike<T>, AsyncIterable<FutureProgress> {
  readonly #core: FutureView<T>;

  static {
    showAs(ApiFuture, ({ requestType, status, requestIds }) => ({ requestType, status, requestIds }));
  }

  private constructor(core: FutureView<T>) {
    this.#core = core;
  }

  /** @internal Client methods create futures. */
  static of<T>(core: FutureView<T>): ApiFuture<T> {
    return new ApiFuture(core);
  }

  /** The operation's name in the protocol, such as `ForwardBackward`. */
  get requestType(): string {
    return this.#core.origin.requestType;
  }

  /** The server's ID of the operation; undefined until the server has accepted it. The first one of a call that was split. */
  get requestId(): string | undefined {
    return this.#core.requestIds[0];
  }

  /** All request IDs of the call, in data order: one, or one per chunk. Empty until all are accepted. */
  get requestIds(): readonly string[] {
    return this.#core.requestIds;
  }

  get status(): FutureStatus {
    return this.#core.status;
  }

  /**
   * Resolves when the server has accepted the operation (all of its chunks), rejects when it never will.
   *
   * @throws What the operation fails with; `AbortedError` or `TimeoutError` when only this wait ends.
   */
  submitted(options: WaitOptions = {}): Promise<void> {
    const target = { what: `the server to accept ${this.requestType}`, consequence: 'The submission continues.' };
    return waitFor(this.#core.submitted(), this.#core.origin.clock, options, target);
  }

  /**
   * The result, with a limit on this wait alone.
   *
   * @throws `TimeoutError` (phase `wait`) after `timeoutMs`, `AbortedError` on `signal`. The operation continues; you can wait again.
   */
  result(options: WaitOptions = {}): Promise<T> {
    this.#core.isObserved = true;
    const target = { what: `the result of ${this.requestType}`, consequence: 'The operation continues; wait again to get its result.' };
    return waitFor(this.#core.promise, this.#core.origin.clock, options, target);
  }

  // biome-ignore lint/suspicious/noThenProperty: a future is awaitable by design.
  then<Result = T, Failure = never>(
    onResolved?: ((value: T) => Result | PromiseLike<Result>) | null,
    onRejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    this.#core.isObserved = true;
    return this.#core.promise.then(onResolved, onRejected);
  }

  /** Like `Promise.prototype.catch`. */
  catch<Failure = never>(onRejected: (error: unknown) => Failure | PromiseLike<Failure>): Promise<T | Failure> {
    return this.then(undefined, onRejected);
  }

  /** Like `Promise.prototype.finally`. */
  finally(onSettled: () => void): Promise<T> {
    this.#core.isObserved = true;
    return this.#core.promise.finally(onSettled);
  }

  /**
   * Calls back whenever the server reports another queue state or reason while the future is pending.
   *
   * @returns A function that stops the calls.
   */
  onQueueState(callback: (change: QueueStateChange) => void): () => void {
    return this.#core.onQueueState(callback);
  }

  /**
   * A future of a value computed from the result, with the same request IDs and progress. `fn` runs once, when the result has arrived;
   * what it throws becomes the new future's failure.
   */
  map<U>(fn: (value: T) => U | PromiseLike<U>): ApiFuture<U> {
    const core = this.#core;
    const mapped = new FutureCore<U>({ ...core.origin, isDerived: true, startedAt: core.startedAt });
    mapped.mirror(core);
    const stopProgress = core.onProgress(() => mapped.mirror(core));
    const stopQueue = core.onQueueState(({ requestId, ...report }) => mapped.queueStateIs(report, requestId));
    core.isObserved = true;
    core.promise
      .then(fn)
      .then(
        (value) => mapped.resolve(value),
        (error: unknown) => mapped.reject(error),
      )
      .finally(() => {
        stopProgress();
        stopQueue();
      });
    return new ApiFuture(mapped);
  }

  /** Progress until the future settles. Slow readers see the latest state, not every step. `break` only ends this loop. */
  [Symbol.asyncIterator](): AsyncIterator<FutureProgress, undefined> {
    this.#core.isObserved = true;
    return progressOf(this.#core);
  }

  /**
   * A handle that lets another process wait for the same result with `service.futures.attach(handle)`. It has no request IDs before
   * {@link submitted}. It does not include what {@link map} computes.
   */
  toJSON(): FutureHandle {
    return { kind: 'tinkex.future', version: 1, requestType: this.requestType, requestIds: [...this.#core.requestIds] };
  }

  get [Symbol.toStringTag](): string {
    return 'ApiFuture';
  }
}
