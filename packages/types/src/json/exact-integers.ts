const QUOTE = 34;
const BACKSLASH = 92;
const TILDE = 126;
const MARKER = 'int64:';

/**
 * Rewrites JSON text so that every integer beyond 2^53 becomes a string that starts with a marker, which stands nowhere else in
 * the text. The text must be valid JSON.
 */
export function markExactIntegers(text: string): { readonly text: string; readonly marker: string } {
  // Escapes could spell the marker, too. Undoing one that is itself escaped only makes the marker longer than necessary.
  const spelled = text.includes('\\u')
    ? text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
  const marker = `${'~'.repeat(Math.max(tildesNeeded(text), tildesNeeded(spelled)))}${MARKER}`;
  const parts: string[] = [];
  let copied = 0;
  let position = 0;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = endOfString(text, position + 1);
      continue;
    }
    if (!isNumberStart(code)) {
      position += 1;
      continue;
    }
    const start = position;
    while (position < text.length && isNumberPart(text.charCodeAt(position))) position += 1;
    const literal = text.slice(start, position);
    if (literal.length < 16 || !/^-?\d+$/.test(literal) || Number.isSafeInteger(Number(literal))) continue;
    parts.push(text.slice(copied, start), `"${marker}${literal}"`);
    copied = position;
  }
  parts.push(text.slice(copied));
  return { text: parts.join(''), marker };
}

/** How many `~` make the marker different from everything in the text: one more than any marker there has. */
function tildesNeeded(text: string): number {
  let needed = 0;
  for (let found = text.indexOf(MARKER); found !== -1; found = text.indexOf(MARKER, found + 1)) {
    let start = found;
    while (start > 0 && text.charCodeAt(start - 1) === TILDE) start -= 1;
    needed = Math.max(needed, found - start + 1);
  }
  return needed;
}

function endOfString(text: string, start: number): number {
  let position = start;
  while (position < text.length && text.charCodeAt(position) !== QUOTE) {
    position += text.charCodeAt(position) === BACKSLASH ? 2 : 1;
  }
  return position + 1;
}

function isNumberStart(code: number): boolean {
  return code === 45 || (code >= 48 && code <= 57);
}

/** Digits, sign, point, exponent. */
function isNumberPart(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101;
}
