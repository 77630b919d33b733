import { createHash } from 'node:crypto';
import { normalizeBaseUrl } from '@tinkex/http';

/**
 * Names who a request is for: the normalized base URL and a hash of the credential. Equal for spellings of a URL that mean the same
 * server (letter case of the host, default port, trailing slash); never contains the credential.
 */
export function tenantIdOf(baseUrl: string, apiKey: string | undefined): string {
  const hash = createHash('sha256')
    .update(apiKey ?? '')
    .digest('hex');
  return `${normalizeBaseUrl(baseUrl)}#${hash.slice(0, 32)}`;
}
