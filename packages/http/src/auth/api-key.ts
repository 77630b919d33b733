import { type AuthProvider, checkedCredential, HiddenCredential } from './auth-provider.js';

/**
 * Sends a fixed key as `X-API-Key`.
 *
 * @throws ConfigurationError when the key is empty or holds what a header cannot carry.
 */
export function apiKeyAuth(key: string): AuthProvider {
  return new ApiKeyAuth(checkedCredential(key, 'apiKey'));
}

class ApiKeyAuth extends HiddenCredential implements AuthProvider {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(key: string) {
    super('api key');
    this.#headers = { 'x-api-key': key };
  }

  headers(): Record<string, string> {
    return { ...this.#headers };
  }

  current(): Readonly<Record<string, string>> {
    return this.#headers;
  }
}
