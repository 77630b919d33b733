import { hasKind, markKind } from '../identity/kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** Whose fault a failed operation is, as the server says. */
export type RequestErrorCategory = 'user' | 'server' | 'unknown';

/** How a {@link RequestFailedError} is built. */
export interface RequestFailedErrorOptions extends TinkexErrorOptions {
  /** Default `unknown`. */
  readonly category?: RequestErrorCategory | undefined;
}

/** The operation was accepted and then failed on the server. Final: polling again gives the same answer. */
export class RequestFailedError extends TinkexError {
  readonly category: RequestErrorCategory;

  constructor(options: RequestFailedErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_REQUEST_FAILED' });
    this.category = options.category ?? 'unknown';
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is RequestFailedError {
    return hasKind(value, 'RequestFailedError');
  }
}

markKind(RequestFailedError, 'RequestFailedError');

/** The server no longer knows the promise (status 410). A sample may be submitted again; a training step may not. */
export class FutureExpiredError extends TinkexError {
  constructor(options: TinkexErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_FUTURE_EXPIRED' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is FutureExpiredError {
    return hasKind(value, 'FutureExpiredError');
  }
}

markKind(FutureExpiredError, 'FutureExpiredError');
