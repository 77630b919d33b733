/** Replaces a value that must not be shown. */
export const REDACTED = '[redacted]';

/** More values than a process has credentials. Beyond it, the one that was used longest ago is forgotten. */
const MAX_KNOWN = 256;
/** Shorter values are words and numbers: hiding them everywhere would make texts unreadable. */
const MIN_SECRET_LENGTH = 8;
/** A value whose name does not say that it is secret may be one from this length on. */
const MIN_UNNAMED_LENGTH = 16;

/** Names of fields, headers and parameters that hold secrets. */
export const SECRET_KEY = /(key|secret|token|password|authorization|cookie|signature|credential)s?$/i;

/** In the order of their last use. */
const known = new Set<string>();

/**
 * Remembers the value of a header or parameter that this process sends, so that {@link hideKnownSecrets} hides it wherever it returns. A
 * short value, and what does not look like a secret under a name that does not say so, is not remembered.
 */
export function rememberSecret(name: string, value: string): void {
  const isNamed = SECRET_KEY.test(name);
  // `Bearer …`, `session=…; other=…`: a server may echo a part.
  for (const part of new Set([value, ...value.split(/[\s;=]+/)])) {
    if (part.length >= (isNamed ? MIN_SECRET_LENGTH : MIN_UNNAMED_LENGTH)) remember(part);
  }
}

function remember(secret: string): void {
  // As it stands in JSON and in URLs.
  for (const form of new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])) {
    known.delete(form);
    known.add(form);
  }
  for (const oldest of known) {
    if (known.size <= MAX_KNOWN) return;
    known.delete(oldest);
  }
}

/** A text without the values that {@link rememberSecret} was given. */
export function hideKnownSecrets(text: string): string {
  let hidden = text;
  for (const secret of known) {
    if (secret.length <= hidden.length && hidden.includes(secret)) hidden = hidden.replaceAll(secret, REDACTED);
  }
  return hidden;
}
