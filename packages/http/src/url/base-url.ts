import { ConfigurationError } from '@tinkex/types';

/**
 * One spelling for each base URL: lower-case scheme and host, no default port, no trailing slash, no query, no fragment.
 * Two URLs that normalise to the same text name the same service.
 *
 * @throws ConfigurationError when the text is not an absolute http(s) URL, or when it carries a user name or password.
 */
export function normalizeBaseUrl(url: string): string {
  // Asked first, not caught: the engine's error quotes the text, which may hold a password.
  if (!URL.canParse(url)) throw new ConfigurationError({ message: 'baseUrl must be an absolute URL, such as https://host/path.' });
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ConfigurationError({ message: `baseUrl must start with http:// or https://, not ${parsed.protocol}//.` });
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ConfigurationError({ message: 'baseUrl must not carry a user name or password: pass an auth provider instead.' });
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
}
