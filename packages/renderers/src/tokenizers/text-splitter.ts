/** One step that splits a text into pieces. */
export interface SplitStep {
  /** Global. */
  readonly pattern: RegExp;
  /** Whether text between matches is a piece too, or is dropped. */
  readonly keepsGaps: boolean;
}

/** The pieces of a text, after all steps. Merges never cross the border of a piece. */
export function splitText(text: string, steps: readonly SplitStep[]): readonly string[] {
  let pieces: readonly string[] = [text];
  for (const step of steps) {
    if (pieces.length === 1) pieces = split(pieces[0] as string, step);
    else pieces = pieces.flatMap((piece) => split(piece, step));
  }
  return pieces;
}

function split(text: string, { pattern, keepsGaps }: SplitStep): readonly string[] {
  // The engine's own loop, without one object per match. Most patterns leave no gaps.
  const matches = text.match(pattern);
  if (matches === null) return keepsGaps ? [text] : [];
  if (!keepsGaps) return matches;
  let matched = 0;
  for (const match of matches) matched += match.length;
  return matched === text.length ? matches : splitWithGaps(text, pattern);
}

function splitWithGaps(text: string, pattern: RegExp): string[] {
  const pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push(match[0]);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}
