/** What may not stand in a request line: blanks, control characters and everything beyond ASCII. */
const UNSAFE = /[^\u0021-\u007e]/;
const UNSAFE_RUNS = /[^\u0021-\u007e]+/g;

/**
 * Appends an endpoint's path to a base URL. The base's own path is kept, one slash stands between the two, and path
 * parameters stay as they are: slashes separate, colons are not escaped. Only what HTTP cannot carry is percent-encoded.
 */
export function joinUrl(base: string, path: string): string {
  const left = base.endsWith('/') ? base.slice(0, -1) : base;
  const joined = path.startsWith('/') ? left + path : `${left}/${path}`;
  return UNSAFE.test(path) ? joined.replace(UNSAFE_RUNS, encodeURIComponent) : joined;
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
