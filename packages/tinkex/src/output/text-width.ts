import { stripVTControlCharacters } from 'node:util';

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** East Asian wide and full-width characters, and emoji, take two columns. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]$|^\p{Emoji_Presentation}$|^[\u{20000}-\u{3fffd}]$/u;

/** How many columns a text takes in a terminal. Color codes take none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (ZERO_WIDTH.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/** Fills a text with blanks up to a width. */
export function padToWidth(text: string, width: number, isRight = false): string {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(text)));
  return isRight ? `${blanks}${text}` : `${text}${blanks}`;
}

/** Breaks a plain text into pieces of at most `width` columns. */
export function breakAtWidth(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of text) {
    const columns = textWidth(character);
    if (used + columns > width && piece !== '') {
      pieces.push(piece);
      [piece, used] = ['', 0];
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece];
}
