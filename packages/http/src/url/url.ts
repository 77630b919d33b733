import { ConfigurationError } from '@tinkex/types';

/** What a request line cannot carry: blanks, control characters and everything beyond ASCII. */
const UNSAFE = /[^\u0021-\u007e]/;
const UNSAFE_RUNS = /[^\u0021-\u007e]+/g;

/** A query value. Lists are joined with commas; `null`, `undefined` and the empty string are left out. */
export type QueryValue = string | number | bigint | boolean | null | undefined | readonly QueryValue[];

/** Query parameters, in the order in which they are sent. */
export type Query = Readonly<Record<string, QueryValue>>;

/**
 * One spelling for each base URL: lower-case scheme and host, no default port, no trailing slash, no query, no fragment.
 * Two URLs that normalize to the same text name the same service.
 *
 * @throws ConfigurationError when the text is not an absolute http(s) URL, or when it carries a user name or password.
 */
export function normalizeBaseUrl(url: string): string {
  // Checked first, not caught: the engine's error quotes the text, which may hold a password.
  if (!URL.canParse(url)) throw invalidBaseUrl('be an absolute URL, such as https://host/path');
  const { protocol, username, password, origin, pathname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') throw invalidBaseUrl(`start with http:// or https://, not ${protocol}//`);
  if (username !== '' || password !== '') throw invalidBaseUrl('not carry a user name or password: pass an auth provider instead');
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function invalidBaseUrl(rule: string): ConfigurationError {
  return new ConfigurationError({ message: `baseUrl must ${rule}.`, option: 'baseUrl' });
}

/**
 * Appends an endpoint's path to a base URL. The base's path is kept, one slash separates the two, and path parameters stay as
 * they are: slashes separate, colons are not escaped. Only what HTTP cannot carry is percent-encoded.
 */
export function joinUrl(base: string, path: string): string {
  const left = base.endsWith('/') ? base.slice(0, -1) : base;
  const joined = path.startsWith('/') ? left + path : `${left}/${path}`;
  return UNSAFE.test(path) ? joined.replace(UNSAFE_RUNS, encodeURIComponent) : joined;
}

/**
 * Form-encodes a query, without the question mark: a blank becomes `+`, `:` becomes `%3A`, booleans are `true` and `false`.
 * Empty when there is nothing to send.
 */
export function encodeQuery(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = queryText(value);
    if (text !== '') parameters.append(name, text);
  }
  return parameters.toString();
}

function queryText(value: QueryValue): string {
  if (!Array.isArray(value)) return String(value ?? '');
  return value
    .filter((item) => item !== null && item !== undefined)
    .map(queryText)
    .join(',');
}

/** The origin of an absolute URL, such as `https://host:8443`, without parsing the rest. */
export function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3);
  return end === -1 ? url : url.slice(0, end);
}

/** What follows the origin: the path with its query, `/` when there is none. */
export function targetOf(url: string, origin: string): string {
  if (url.length === origin.length) return '/';
  const fragment = url.indexOf('#', origin.length);
  return fragment === -1 ? url.slice(origin.length) : url.slice(origin.length, fragment);
}
