/** The header that assigns a call to a scope. */
export const SCOPE_HEADER = 'x-testkit-scope';

/** Keys of this form assign their calls to a scope, for clients that cannot send a header. */
const SCOPED_KEY = /^tml-scope-([\w.-]{1,128})$/;
const SCOPE_NAME = /^[\w.-]{1,128}$/;

/** The API key whose calls belong to a scope. */
export function scopedKey(scope: string): string {
  if (!SCOPE_NAME.test(scope)) {
    throw new RangeError(`A scope has 1 to 128 letters, digits, dots, hyphens and underscores, got ${JSON.stringify(scope)}.`);
  }
  return `tml-scope-${scope}`;
}

/** The scope of a call: its header, or the name in its key; undefined when it has neither. */
export function scopeOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  return headers[SCOPE_HEADER] ?? SCOPED_KEY.exec(headers['x-api-key'] ?? '')?.[1];
}
