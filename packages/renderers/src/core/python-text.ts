/** What Python takes for whitespace: also U+001C to U+001F and U+0085, but not U+FEFF. For use inside a character class. */
export const PYTHON_SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const LEADING_SPACE = new RegExp(`^[${PYTHON_SPACE}]+`);
const SPACE = new RegExp(`[${PYTHON_SPACE}]`);

/** Python's `str.lstrip()`. */
export function lstrip(text: string): string {
  return text.replace(LEADING_SPACE, '');
}

/** Python's `str.rstrip()`. */
export function rstrip(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Python's `str.strip()`. */
export function strip(text: string): string {
  return lstrip(rstrip(text));
}

/** Python's `str.lstrip("\n")`. */
export function lstripNewlines(text: string): string {
  return text.replace(/^\n+/, '');
}

/** Python's `str.strip("\n")`. */
export function stripNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end -= 1;
  return lstripNewlines(text.slice(0, end));
}

/** Whether nothing but whitespace is there. */
export function isBlank(text: string): boolean {
  return lstrip(text) === '';
}

/** The digraphs whose title case is not their upper case. */
const TITLE_CASE: Readonly<Record<string, string>> = { Ǆ: 'ǅ', Ǉ: 'ǈ', Ǌ: 'ǋ', Ǳ: 'ǲ' };

/** Python's `str.capitalize()`: the first character in title case, all others in lower case. */
export function capitalize(text: string): string {
  const [first, ...rest] = text;
  if (first === undefined) return '';
  const [initial, ...others] = first.toUpperCase();
  return `${TITLE_CASE[initial as string] ?? initial}${others.join('').toLowerCase()}${rest.join('').toLowerCase()}`;
}

/** The first `count` code points: Python counts characters, not UTF-16 units. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** Compares as Python does, by code points. UTF-16 order differs above U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let index = 0; index < a.length && index < b.length; index += 1) {
    const difference = codePoint(a[index]) - codePoint(b[index]);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function codePoint(character: string | undefined): number {
  return character?.codePointAt(0) ?? 0;
}
