import { inspect } from 'node:util';
import { ConfigurationError } from '@tinkex/types';
import type { AuthProvider } from './auth-provider.js';

/** A credential that does not show itself to `util.inspect` or `JSON.stringify`. */
class ApiKeyAuth implements AuthProvider {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(key: string) {
    this.#headers = { 'x-api-key': key };
  }

  headers(): Record<string, string> {
    return { ...this.#headers };
  }

  current(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  toJSON(): string {
    return '[api key]';
  }

  [inspect.custom](): string {
    return '[api key]';
  }
}

/**
 * Sends a fixed key as `X-API-Key`.
 *
 * @throws ConfigurationError when the key is empty or holds what a header cannot carry.
 */
export function apiKeyAuth(key: string): AuthProvider {
  return new ApiKeyAuth(checkedCredential(key, 'apiKey'));
}

/** A credential that fits into a header, or an error that does not show it. */
export function checkedCredential(credential: string, option: string): string {
  if (credential === '') throw new ConfigurationError({ message: `${option} is empty.`, option });
  if (!/^[\u0021-\u007e]+$/.test(credential)) {
    throw new ConfigurationError({
      message: `${option} holds characters that an HTTP header cannot carry, such as blanks or line breaks.`,
      option,
    });
  }
  return credential;
}
