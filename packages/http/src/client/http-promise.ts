import type { HttpResult } from './request-options.js';

/** A call under way: a promise of its data, with the response's metadata on request. The call starts when it is made. */
export class HttpPromise<T> implements Promise<T> {
  readonly #result: Promise<HttpResult<T>>;

  constructor(result: Promise<HttpResult<T>>) {
    this.#result = result;
  }

  get [Symbol.toStringTag](): string {
    return 'HttpPromise';
  }

  /** The data together with status, headers, request id and the number of attempts. */
  withMetadata(): Promise<HttpResult<T>> {
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise is what this class is.
  then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((data: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#result.then(
      onFulfilled ? (result) => onFulfilled(result.data) : (result) => result.data as unknown as Fulfilled,
      onRejected,
    );
  }

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null): Promise<T | Rejected> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}
