import { paint, terminalWidth } from './terminal.js';

/** Texts from before and after in two columns, or one below the other if they do not fit on a line. */
export function sideBySide({ before, after }: { readonly before: readonly string[]; readonly after: readonly string[] }): string {
  const width = longest(before);
  if (2 + width + 2 + longest(after) < terminalWidth()) {
    const row = (left: string, right: string): string => `  ${paint('dim', left.padEnd(width))}  ${right}`;
    return [row('before', 'after'), ...before.map((text, index) => row(text, paint('green', after[index] ?? '')))].join('\n');
  }
  return before.map((text, index) => `  before: ${paint('dim', text)}\n  after:  ${paint('green', after[index] ?? '')}`).join('\n');
}

function longest(texts: readonly string[]): number {
  return Math.max('before'.length, ...texts.map(({ length }) => length));
}
