import { checkKind } from '../kind.js';
import { redactHeaders } from '../redaction/redact-value.js';
import { isRetryableStatus } from './retry-advice.js';
import { defineHidden, TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** How an {@link ApiStatusError} is built. Prefer {@link apiStatusError}, which picks the class and writes the message. */
export interface ApiStatusErrorOptions extends TinkexErrorOptions {
  readonly status: number;
  /** Only the safe ones keep their values. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parsed JSON, or text. */
  readonly body?: unknown;
  readonly method?: string | undefined;
  /** Without the query. */
  readonly path?: string | undefined;
}

/** The server answered with a status that is not a success. Statuses with a special meaning have subclasses. */
export class ApiStatusError extends TinkexError {
  static override readonly kind: string = 'ApiStatusError';
  static override readonly code: string = 'TINKEX_API_STATUS';
  static override readonly isInstance: (value: unknown) => value is ApiStatusError = checkKind('ApiStatusError');

  readonly status: number;
  declare readonly method?: string | undefined;
  declare readonly path?: string | undefined;
  /** The response's headers with lower-case names, redacted by an allow-list. Not enumerable. */
  declare readonly headers: Readonly<Record<string, string>>;
  /** The response's body: parsed JSON, else text. Not enumerable. */
  declare readonly body: unknown;

  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, isRetryable: options.isRetryable ?? isRetryableStatus(options.status) });
    this.status = options.status;
    if (options.method !== undefined) this.method = options.method;
    if (options.path !== undefined) this.path = options.path;
    defineHidden(this, 'headers', redactHeaders(options.headers ?? {}));
    defineHidden(this, 'body', options.body);
  }
}
