import { ConfigurationError } from '@tinkex/types';

/**
 * The JavaScript form of a split pattern, as tokenizer.json (Oniguruma) and tiktoken (Rust) write them. The flavors differ in what these patterns use:
 *
 * - `(?i:…)` is not in every JavaScript runtime: letters are written out in both cases
 * - `\s` is Unicode's white space there; in JavaScript it has U+FEFF and lacks U+0085
 * - `\p{Han}` is `\p{Script=Han}` here, and `[…&&[^…]]` needs the flag `v`
 *
 * Throws a `ConfigurationError` for what it cannot translate.
 */
export function compileSplitPattern(pattern: string): RegExp {
  const hasIntersection = pattern.includes('&&');
  try {
    return new RegExp(translate(hasIntersection ? bracketIntersections(pattern) : pattern), hasIntersection ? 'gv' : 'gu');
  } catch (cause) {
    const message = `The split pattern of this tokenizer has no JavaScript form: ${pattern}`;
    throw new ConfigurationError({ code: 'TINKEX_TOKENIZER_UNSUPPORTED', message, cause });
  }
}

/** `[A&&[^B]]` as JavaScript wants it: `[[A]&&[^B]]`. */
function bracketIntersections(pattern: string): string {
  return pattern.replace(/\[([^[\]&]+)&&(\[\^?[^[\]]+\])\]/gu, '[[$1]&&$2]');
}

/** Escapes that mean the same in both. `\\d` and `\\w` do not: they know Unicode there. */
const KNOWN_ESCAPES = new Set('^$\\.*+?()[]{}|/nrtfv');

/** A token of a pattern: an escape, the start of a group, a quantifier with what makes it lazy or possessive, or any character. */
const TOKEN = /\\[pP]\{\^?\w+\}|\\[\s\S]|\(\?(?:i:|:|=|!|<=|<!)|\(\?|(?:[?*+]|\{\d+(?:,\d*)?\})[?+]?|[\s\S]/gu;

function translate(pattern: string): string {
  let source = '';
  const groups: boolean[] = [];
  let classDepth = 0;
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token === '[') classDepth += 1;
    if (token.startsWith('\\')) source += translateEscape(token, classDepth > 0);
    else source += classDepth > 0 ? token : translateToken(token, groups);
    if (token === ']') classDepth -= 1;
  }
  return source;
}

/** @param groups - For each open group, whether its letters match in both cases. */
function translateToken(token: string, groups: boolean[]): string {
  const ignoresCase = groups.at(-1) ?? false;
  if (token === '(?') throw new SyntaxError('Unknown kind of group.');
  if (token.startsWith('(')) {
    groups.push(token === '(?i:' || ignoresCase);
    return token === '(?i:' || token === '(' ? '(?:' : token;
  }
  if (token === ')') groups.pop();
  if (token.length > 1 && token.endsWith('+')) throw new SyntaxError(`Possessive quantifier ${token}.`);
  return ignoresCase ? bothCases(token) : token;
}

function translateEscape(sequence: string, isInClass: boolean): string {
  const kind = sequence[1] as string;
  if (kind === 's') return '\\p{White_Space}';
  if (kind === 'S') return '\\P{White_Space}';
  if (sequence.length > 2) return isProperty(sequence) ? sequence : sequence.replace('{', '{Script=');
  if (KNOWN_ESCAPES.has(kind) || (kind === '-' && isInClass)) return sequence;
  if (/[A-Za-z]/u.test(kind)) throw new SyntaxError(`Unknown escape ${sequence}.`);
  // With the flag `u`, JavaScript refuses to escape what needs no escape.
  return kind;
}

function isProperty(sequence: string): boolean {
  try {
    new RegExp(sequence, 'u');
    return true;
  } catch {
    return false;
  }
}

function bothCases(character: string): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  return lower === upper ? character : `[${lower}${upper}${FOLDED[lower] ?? ''}]`;
}

/** Letters outside ASCII that are equal to one inside it when case is ignored. */
const FOLDED: Readonly<Record<string, string>> = { s: '\u017f', k: '\u212a' };
