import { RULES } from './rules.js';
import { proseOf } from './texts.js';

/** One phrase that should be written differently. */
export interface ProseProblem {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly phrase: string;
  readonly write: string;
}

const MATCHERS = RULES.map(({ pattern, write }) => ({
  expression: new RegExp(`\\b(?:${pattern.replaceAll(' ', '\\s+')})\\b`, 'gi'),
  write,
}));

/** `prose-ok: reason` in a comment excuses the line it stands on and the one below. */
const EXCUSE = /prose-ok:[ \t]*([^\n]*?)(?:\*\/|-->|$)/gm;

/** The phrases of a file that break a rule of the word list. The name of the file says what in it is prose. */
export function checkProse(file: string, source: string): ProseProblem[] {
  const position = positionsIn(source);
  const excused = new Set<number>();
  const problems: ProseProblem[] = [];
  for (const { index, 0: phrase, 1: reason = '' } of source.matchAll(EXCUSE)) {
    const { line, column } = position(index);
    excused.add(line).add(line + 1);
    if (reason.trim() === '') problems.push({ line, column, phrase: phrase.trim(), write: 'prose-ok: and the reason' });
  }
  for (const { start, text } of proseOf(file, source)) {
    for (const { expression, write } of MATCHERS) {
      for (const { index, 0: phrase } of text.matchAll(expression)) {
        const { line, column } = position(start + index);
        if (!excused.has(line)) problems.push({ line, column, phrase: phrase.replace(/\s+/g, ' '), write });
      }
    }
  }
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

function positionsIn(source: string): (offset: number) => { readonly line: number; readonly column: number } {
  return (offset) => {
    const before = source.slice(0, offset).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  };
}
