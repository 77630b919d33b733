import { checkKind, defineKinds } from '../kind.js';
import { redactText } from '../redaction/redact-text.js';

/** What every error of the SDK can be built with. */
export interface TinkexErrorOptions {
  /** Secrets are removed from it. */
  readonly message: string;
  readonly cause?: unknown;
  /** The ID of the operation or of the HTTP request, when one is known. */
  readonly requestId?: string | undefined;
  /** The number of attempts before this error was thrown. Default 1. */
  readonly attempts?: number | undefined;
  /** Default: what the class says. */
  readonly isRetryable?: boolean | undefined;
  /** Default: the code of the class. */
  readonly code?: string | undefined;
}

/**
 * The root of every error that the SDK throws. `isInstance` works across two copies of the package, where `instanceof` does not.
 * Raw responses are non-enumerable properties, so that logging an error never prints them.
 */
export class TinkexError extends Error {
  /** The name by which all copies of this package know the class. */
  static readonly kind: string = 'TinkexError';
  /** The {@link TinkexError.code} of its instances. */
  static readonly code: string = 'TINKEX_ERROR';
  /** True for instances of this class and its subclasses, from any copy of this package. */
  static readonly isInstance: (value: unknown) => value is TinkexError = checkKind('TinkexError');

  /** A stable text to branch on, such as `TINKEX_VALIDATION`. */
  readonly code: string;
  /** Whether the same call may succeed if you repeat it. */
  readonly isRetryable: boolean;
  declare readonly requestId?: string | undefined;
  /** The number of attempts. */
  readonly attempts: number;

  constructor(options: TinkexErrorOptions) {
    super(redactText(options.message), options.cause === undefined ? undefined : { cause: options.cause });
    // On the prototype a minified or re-exported class would lose its name; `new.target.name` is what a subclass is called.
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true });
    this.code = options.code ?? new.target.code;
    this.isRetryable = options.isRetryable ?? false;
    if (options.requestId !== undefined) this.requestId = options.requestId;
    this.attempts = options.attempts ?? 1;
  }

  /** What may be logged: never headers, bodies or causes. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { name: this.name, message: this.message };
    for (const [key, value] of Object.entries(this)) if (value !== undefined) json[key] = value;
    return json;
  }
}

defineKinds(TinkexError);

/** Keeps a raw object reachable on an error without letting `console.log` or `JSON.stringify` print it. */
export function defineHidden(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false, configurable: true, writable: true });
}
