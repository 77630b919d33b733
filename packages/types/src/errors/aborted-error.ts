import { hasKind, markKind } from '../identity/kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** How an {@link AbortedError} is built. */
export interface AbortedErrorOptions extends Omit<TinkexErrorOptions, 'message'> {
  readonly message?: string | undefined;
}

/** The caller's signal was aborted, or its client was closed. Its name is `AbortError`, its cause the signal's reason. */
export class AbortedError extends TinkexError {
  constructor(options: AbortedErrorOptions = {}) {
    super({ ...options, code: options.code ?? 'TINKEX_ABORTED', message: options.message ?? 'The call was aborted' });
    Object.defineProperty(this, 'name', { value: 'AbortError', configurable: true, writable: true });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is AbortedError {
    return hasKind(value, 'AbortedError');
  }
}

markKind(AbortedError, 'AbortedError');
