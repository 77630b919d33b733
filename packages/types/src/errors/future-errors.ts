import { checkKind } from '../kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** Who caused the failure of an operation, according to the server. */
export type RequestErrorCategory = 'user' | 'server' | 'unknown';

/** How a {@link RequestFailedError} is built. */
export interface RequestFailedErrorOptions extends TinkexErrorOptions {
  /** Default `unknown`. */
  readonly category?: RequestErrorCategory | undefined;
}

/** The operation was accepted and then failed on the server. Final: polling again gives the same answer. */
export class RequestFailedError extends TinkexError {
  static override readonly kind: string = 'RequestFailedError';
  static override readonly code: string = 'TINKEX_REQUEST_FAILED';
  static override readonly isInstance: (value: unknown) => value is RequestFailedError = checkKind('RequestFailedError');

  readonly category: RequestErrorCategory;

  constructor(options: RequestFailedErrorOptions) {
    super(options);
    this.category = options.category ?? 'unknown';
  }
}

/** The server no longer knows the operation (status 410). A sample may be submitted again; a training step may not. */
export class FutureExpiredError extends TinkexError {
  static override readonly kind: string = 'FutureExpiredError';
  static override readonly code: string = 'TINKEX_FUTURE_EXPIRED';
  static override readonly isInstance: (value: unknown) => value is FutureExpiredError = checkKind('FutureExpiredError');
}
