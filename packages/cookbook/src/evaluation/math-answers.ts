const BOXED = '\\boxed';

/** What the last `\boxed{…}` of a text contains; undefined if there is none or it is not closed. */
export function extractBoxed(text: string): string | undefined {
  const start = text.lastIndexOf(BOXED);
  if (start < 0) return undefined;
  const rest = text.slice(start + BOXED.length);
  if (!rest.startsWith('{')) return /^\s+(\S+)/.exec(rest)?.[1];
  let depth = 0;
  for (let index = 0; index < rest.length; index++) {
    if (rest[index] === '{') depth++;
    if (rest[index] === '}' && --depth === 0) return rest.slice(1, index);
  }
  return undefined;
}

/** Notation that does not change what an answer says, in the order in which it is removed. */
const NOTATION: readonly (readonly [RegExp, string])[] = [
  [/\n|\\!/g, ''],
  [/\\[td]frac/g, '\\frac'],
  [/\\left|\\right/g, ''],
  [/\^\{?\\circ\}?/g, ''],
  [/\\\$/g, ''],
  // A unit in words ends the answer.
  [/\\text\{ .*$/s, ''],
  [/\\?%/g, ''],
  [/(^|[ {])\./g, '$10.'],
];

/** An answer in a form in which equal answers are usually equal texts: fractions, roots, units, spaces. It computes nothing. */
export function normalizeAnswer(answer: string): string {
  const whole = /^\\text\{([^{}]*)\}$/.exec(answer.trim());
  let text = (whole?.[1] ?? answer).trim();
  for (const [pattern, replacement] of NOTATION) text = text.replace(pattern, replacement);
  const [name, value, ...more] = text.split('=');
  if (value !== undefined && more.length === 0 && (name as string).trim().length <= 2) text = value;
  text = text
    .replace(/\\sqrt\s*([^\s{\\])/g, '\\sqrt{$1}')
    .replace(/\s+/g, '')
    .replace(/\\frac([^{\\])([^{\\])/g, '\\frac{$1}{$2}');
  if (text === '0.5') return '\\frac{1}{2}';
  return text.replace(/^(-?\d+)\/(-?\d+)$/, '\\frac{$1}{$2}');
}

/** Whether the boxed answer of a text is the expected one, by its normalized text. */
export function isMathAnswerCorrect(text: string, expected: string): boolean {
  const answer = extractBoxed(text);
  return answer !== undefined && normalizeAnswer(answer) === normalizeAnswer(expected);
}
