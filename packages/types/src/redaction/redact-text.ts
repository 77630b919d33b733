import { hideKnownSecrets, REDACTED } from './known-secrets.js';

/** What every runtime has and the language's own library does not declare. */
declare class URL {
  constructor(url: string);
  readonly origin: string;
  readonly pathname: string;
  readonly searchParams: { keys(): Iterable<string> };
}

/** A text without any of these marks holds no secret that the patterns below would find. Most texts have none. */
const SUSPICIOUS = /tml-|eyJ|:\/\/[^\s/]*@|[?&]|key|token|secret|bearer|basic|authori|cookie|passw|passphrase|signature|credential/i;

/** A quoted value may contain escaped quotes, may itself be escaped (JSON inside JSON), and may be cut off before its end. */
const QUOTED = String.raw`\\{0,4}"(?:[^"\\]|\\.)*"?|\\{0,4}'(?:[^'\\]|\\.)*'?`;
/** What stands between a name and its value: `name: value`, `name=value`, `"name": "value"`. */
const ASSIGNS = String.raw`\\{0,4}["']?\s*[:=]\s*`;
const SECRET_NAME = [
  '(?:(?:api|access|private)[_-]?key|secret|passw(?:or)?d|passphrase|credential)[\\w-]{0,64}',
  // No letter may follow: `max_tokens: 5` is a count, `AuthTokenRequest: …` and `SignatureDoesNotMatch: …` begin a message.
  '(?:(?:access|auth|id|refresh|security|session)[_-]?token|signature)(?:[_-][\\w-]{0,64})?',
].join('|');

/**
 * Each pattern takes time in proportion to the length of the text, whatever the text: repetitions are bounded, or consume what they have
 * inspected, or cannot match where the next part begins.
 */
const PATTERNS: readonly (readonly [RegExp, string | ((...match: string[]) => string)])[] = [
  // Headers that are secrets as a whole, to the end of the line: a cookie header has several values.
  [new RegExp(`((?:authorization|cookie)[\\w-]{0,64}${ASSIGNS})(?:${QUOTED}|[^\\r\\n"'}\\]]+)`, 'gi'), `$1${REDACTED}`],
  // API keys of the service.
  [/(?<![A-Za-z0-9])tml-[\w-]+/g, REDACTED],
  // JSON Web Tokens.
  [/(?<![A-Za-z0-9])eyJ[\w-]{4,}(?:\.[\w-]*){0,2}/g, REDACTED],
  // The user name and password of a URL.
  [/(:\/\/)[^\s/@"'<>]+@/g, `$1${REDACTED}@`],
  // The query of a URL, where signed URLs carry their signatures. A URL without a query is consumed, too, and stays as it is.
  [/(:\/\/[^\s?"'<>]+)(\?[^\s"'<>]*)?/g, (url = '', place = '', query = '') => (query.length > 1 ? `${place}?${REDACTED}` : url)],
  // Parameters of a query without its URL.
  [/([?&][\w.-]{0,64}?(?:token|sig|key|secret|credential|password)[\w.-]{0,64}=)[^&\s"'<>]+/gi, `$1${REDACTED}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${REDACTED}`],
  [new RegExp(`((?:${SECRET_NAME})${ASSIGNS})(?!\\[redacted)(?:${QUOTED}|[^\\s,;&}\\]]+)`, 'gi'), `$1${REDACTED}`],
  // A lone `token` is usually a word of a model's text; as the name of a value it is a secret.
  [
    new RegExp(`((?<![a-z0-9])token(?:\\\\{0,4}["']\\s*:\\s*|\\s*=\\s*))(?!\\[redacted)(?:${QUOTED}|[^\\s,;&}\\]]+)`, 'gi'),
    `$1${REDACTED}`,
  ],
];

/**
 * Removes everything that looks like a credential from a text: API keys, JSON Web Tokens, authorization values, cookies, passwords and
 * queries of URLs, `secret=…` pairs. The credentials that this process sends are removed whatever they look like.
 *
 * @param maxLength - Longer texts are cut and end in `…`. Default: no limit.
 */
export function redactText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  // Cut before matching, with room for what a pattern needs to see: a long text must not cost long matching.
  let redacted = hideKnownSecrets(text.length > 2 * maxLength ? text.slice(0, 2 * maxLength) : text);
  if (SUSPICIOUS.test(redacted)) {
    for (const [pattern, replacement] of PATTERNS) redacted = redacted.replace(pattern, replacement as string);
  }
  return redacted.length > maxLength ? `${redacted.slice(0, maxLength)}…` : redacted;
}

/**
 * A URL that may be shown: no user name, no password, no fragment, and the names of the query without their values, because signed URLs
 * carry their signatures there.
 */
export function redactUrl(url: string | { readonly href: string }): string {
  let parsed: URL;
  try {
    parsed = new URL(typeof url === 'string' ? url : url.href);
  } catch {
    return '[invalid url]';
  }
  const names = [...new Set(parsed.searchParams.keys())].map((name) => `${encodeURIComponent(name)}=${REDACTED}`);
  return `${parsed.origin}${parsed.pathname}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}
