/** A token that is recognized in text before anything else happens to it. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Special tokens are structure, such as `<|im_end|>`; others are only kept in one piece, such as `<think>`. */
  readonly isSpecial: boolean;
  /** Whether the token is looked for in normalized text. */
  readonly isNormalized: boolean;
}

/** Finds added tokens in text: the leftmost, of several at the same place the longest. */
export class AddedTokenFinder {
  /** By the first code unit, longest first. */
  readonly #tokens = new Map<number, AddedToken[]>();
  /** Most texts contain none of the first code units, so they are searched natively. */
  readonly #firsts: RegExp | undefined;

  constructor(tokens: readonly AddedToken[]) {
    for (const token of [...tokens].sort((one, other) => other.content.length - one.content.length)) {
      if (token.content === '') continue;
      const first = token.content.charCodeAt(0);
      this.#tokens.set(first, [...(this.#tokens.get(first) ?? []), token]);
    }
    const codes = [...this.#tokens.keys()].map((code) => `\\u${code.toString(16).padStart(4, '0')}`);
    if (codes.length > 0) this.#firsts = new RegExp(`[${codes.join('')}]`, 'g');
  }

  /** Calls back with each text between added tokens (never an empty one) and each token, in order. */
  split(text: string, onText: (text: string) => void, onToken: (id: number) => void): void {
    let start = 0;
    if (this.#firsts !== undefined) {
      this.#firsts.lastIndex = 0;
      while (this.#firsts.test(text)) {
        const position = this.#firsts.lastIndex - 1;
        const token = this.#tokenAt(text, position);
        if (token === undefined) continue;
        if (position > start) onText(text.slice(start, position));
        onToken(token.id);
        start = position + token.content.length;
        this.#firsts.lastIndex = start;
      }
    }
    if (start < text.length) onText(start === 0 ? text : text.slice(start));
  }

  #tokenAt(text: string, position: number): AddedToken | undefined {
    return this.#tokens.get(text.charCodeAt(position))?.find(({ content }) => text.startsWith(content, position));
  }
}
