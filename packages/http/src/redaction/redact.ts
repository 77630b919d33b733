import { keepSafeHeaders, REDACTED } from '@tinkex/types/wire';

/** A copy with lower-case names in which only well-known harmless headers keep their values. Use it for everything that is logged or recorded. */
export function redactHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return keepSafeHeaders(flat);
}

/**
 * A URL that may be shown: no user name, no password, no fragment, and the query's names without its values, because that is
 * where signed URLs carry their signatures.
 */
export function redactUrl(url: string | URL): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return '[invalid url]';
  }
  const names = [...new Set(parsed.searchParams.keys())].map((name) => `${encodeURIComponent(name)}=${REDACTED}`);
  return `${parsed.origin}${parsed.pathname}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}
