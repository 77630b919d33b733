import { ConfigurationError } from '@tinkex/types';

/** Where a request's credential comes from. It is called for each attempt. */
export interface AuthProvider {
  /**
   * The headers that carry the credential, lower-case names. A rejection ends the call, and is retried only when the error is
   * a `TinkexError` with `isRetryable`.
   *
   * @param signal - Aborted when the attempt ends.
   */
  headers(signal?: AbortSignal): Promise<Record<string, string>> | Record<string, string>;
  /** The headers, if they are available without waiting. Optional: saves the cost of a signal on the hot path. */
  current?(): Readonly<Record<string, string>> | undefined;
  /** Stops background work. Idempotent. */
  close?(): void | Promise<void>;
}

/** The method that `util.inspect` calls, in any runtime. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** A credential that `util.inspect` and `JSON.stringify` show by its kind only. */
export abstract class HiddenCredential {
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  toJSON(): string {
    return `[${this.#kind}]`;
  }

  [INSPECT](): string {
    return this.toJSON();
  }
}

/** Returns a credential that fits into a header, or throws an error that does not show it. */
export function checkedCredential(credential: string, option: string): string {
  if (credential === '') throw new ConfigurationError({ message: `${option} is empty.`, option });
  if (/^[\u0021-\u007e]+$/.test(credential)) return credential;
  const message = `${option} holds characters that an HTTP header cannot carry, such as blanks or line breaks.`;
  throw new ConfigurationError({ message, option });
}
