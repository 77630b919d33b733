import { hasKind, markKind } from '../identity/kind.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** How a {@link ConfigurationError} is built. */
export interface ConfigurationErrorOptions extends TinkexErrorOptions {
  /** The option at fault, as the user writes it. */
  readonly option?: string | undefined;
  /** The environment variable that could have supplied it. */
  readonly environmentVariable?: string | undefined;
}

/** A missing or impossible option. Thrown at once, before anything is sent; the message names the option and the fix. */
export class ConfigurationError extends TinkexError {
  declare readonly option?: string | undefined;
  declare readonly environmentVariable?: string | undefined;

  constructor(options: ConfigurationErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_CONFIGURATION' });
    if (options.option !== undefined) this.option = options.option;
    if (options.environmentVariable !== undefined) this.environmentVariable = options.environmentVariable;
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is ConfigurationError {
    return hasKind(value, 'ConfigurationError');
  }
}

markKind(ConfigurationError, 'ConfigurationError');
