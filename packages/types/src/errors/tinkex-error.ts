import { hasKind, markKind } from '../identity/kind.js';
import { redactText } from '../redaction/redact-text.js';

/** What every error of the SDK can be built with. */
export interface TinkexErrorOptions {
  readonly message: string;
  readonly cause?: unknown;
  /** The server's promise id, or the id of the HTTP request, when one is known. */
  readonly requestId?: string | undefined;
  /** How many times the call was tried before this error was thrown. Default 1. */
  readonly attempts?: number | undefined;
  /** Replaces the class's own judgement. */
  readonly isRetryable?: boolean | undefined;
  /** Replaces the class's own code. */
  readonly code?: string | undefined;
}

/**
 * The root of every error the SDK throws. `isInstance` works across two copies of the package, where `instanceof` does not.
 * Raw responses hang on the error as non-enumerable properties, so that logging an error never prints them.
 */
export class TinkexError extends Error {
  /** A stable text to branch on, such as `TINKEX_VALIDATION`. */
  readonly code: string;
  /** Whether the same call may succeed when it is made again. */
  readonly isRetryable: boolean;
  declare readonly requestId?: string | undefined;
  /** How many times the call was tried. */
  readonly attempts: number;

  constructor(options: TinkexErrorOptions) {
    super(redactText(options.message), options.cause === undefined ? undefined : { cause: options.cause });
    // On the prototype a minified or re-exported class would lose its name; `new.target.name` is what a subclass is called.
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true });
    this.code = options.code ?? 'TINKEX_ERROR';
    this.isRetryable = options.isRetryable ?? false;
    if (options.requestId !== undefined) this.requestId = options.requestId;
    this.attempts = options.attempts ?? 1;
  }

  /** True for any error of the SDK, from any copy of this package. */
  static isInstance(value: unknown): value is TinkexError {
    return hasKind(value, 'TinkexError');
  }

  /** What may be logged: never headers, bodies or causes. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { name: this.name, message: this.message };
    for (const [key, value] of Object.entries(this)) if (value !== undefined) json[key] = value;
    return json;
  }
}

markKind(TinkexError, 'TinkexError');

/** Keeps a raw object reachable on an error without letting `console.log` or `JSON.stringify` print it. */
export function defineHidden(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false, configurable: true, writable: true });
}
