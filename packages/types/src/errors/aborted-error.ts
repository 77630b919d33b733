import { checkKind } from '../kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** How an {@link AbortedError} is built. */
export interface AbortedErrorOptions extends Omit<TinkexErrorOptions, 'message'> {
  readonly message?: string | undefined;
}

/** The caller's signal was aborted, or its client was closed. Its name is `AbortError`, its cause the signal's reason. */
export class AbortedError extends TinkexError {
  static override readonly kind: string = 'AbortedError';
  static override readonly code: string = 'TINKEX_ABORTED';
  static override readonly isInstance: (value: unknown) => value is AbortedError = checkKind('AbortedError');

  constructor(options: AbortedErrorOptions = {}) {
    super({ ...options, message: options.message ?? 'The call was aborted' });
    Object.defineProperty(this, 'name', { value: 'AbortError', configurable: true, writable: true });
  }
}
