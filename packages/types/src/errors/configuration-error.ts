import { checkKind } from '../kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** How a {@link ConfigurationError} is built. */
export interface ConfigurationErrorOptions extends TinkexErrorOptions {
  /** The option at fault, as the user writes it. */
  readonly option?: string | undefined;
  /** The environment variable that could have supplied it. */
  readonly environmentVariable?: string | undefined;
}

/** A missing or invalid option. Thrown before anything is sent; the message names the option and the fix. */
export class ConfigurationError extends TinkexError {
  static override readonly kind: string = 'ConfigurationError';
  static override readonly code: string = 'TINKEX_CONFIGURATION';
  static override readonly isInstance: (value: unknown) => value is ConfigurationError = checkKind('ConfigurationError');

  declare readonly option?: string | undefined;
  declare readonly environmentVariable?: string | undefined;

  constructor(options: ConfigurationErrorOptions) {
    super(options);
    if (options.option !== undefined) this.option = options.option;
    if (options.environmentVariable !== undefined) this.environmentVariable = options.environmentVariable;
  }
}
