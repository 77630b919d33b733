const replacement = '[redacted]';

/** A text without any of these marks cannot hold a secret we know of; most texts leave here. */
const suspicious = /tml-|eyJ|:\/\/\S*[@?]|key|token|secret|bearer|basic|authori|cookie|password|signature|credential/i;

const patterns: readonly (readonly [RegExp, string])[] = [
  // API keys of the service.
  [/\btml-[A-Za-z0-9_-]+/g, replacement],
  // JSON web tokens.
  [/\beyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,2}/g, replacement],
  // User name and password in a URL.
  [/(https?:\/\/)[^\s/@"'<>]+@/gi, `$1${replacement}@`],
  // The query of any URL: signed URLs carry their secret there.
  [/(https?:\/\/[^\s?"'<>]+\?)[^\s"'<>]+/gi, `$1${replacement}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${replacement}`],
  // name: value, name=value and "name": "value" for names that hold secrets. What stands before the telling part of a name is of no
  // interest, and what may follow it is short: looking for either in a long run of letters would take time by the square of its length.
  [
    /((?:api[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|secret|password|authorization|cookie|signature|credential)[\w-]{0,64}["']?\s*[:=]\s*)(?!\[redacted\])("[^"]*"|'[^']*'|(?:(?:bearer|basic)\s+)?[^\s,;&}\]]+)/gi,
    `$1${replacement}`,
  ],
];

/**
 * Removes everything that looks like a credential from a text (service keys, web tokens, authorization values, passwords and
 * queries of URLs, `secret=…` pairs) and cuts it at `maxLength` characters.
 */
export function redactText(text: string, maxLength = 4_000): string {
  // Cut first, with room for what a pattern needs to see: a page of text must not cost a page of matching.
  let redacted = text.length > 2 * maxLength ? text.slice(0, 2 * maxLength) : text;
  if (suspicious.test(redacted)) {
    for (const [pattern, substitute] of patterns) redacted = redacted.replace(pattern, substitute);
  }
  return redacted.length > maxLength ? `${redacted.slice(0, maxLength)}…` : redacted;
}
