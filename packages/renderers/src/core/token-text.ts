import type { RendererTokenizer } from './tokenizer.js';

/** A character of UTF-8 has at most four bytes; a token that starts inside one and ends inside the next makes it at most eight tokens. */
const MAX_SPLIT_TOKENS = 8;
const REPLACEMENT = '\uFFFD';

/** Turns tokens into text as they arrive and never shows half a character. Text that ends in U+FFFD waits for the token that completes it. */
export class TokenText {
  readonly #tokenizer: RendererTokenizer;
  #pending: number[] = [];

  constructor(tokenizer: RendererTokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** The text that is complete now. */
  push(tokens: readonly number[]): string {
    this.#pending = this.#pending.concat(tokens);
    for (let kept = 0; kept <= MAX_SPLIT_TOKENS && kept < this.#pending.length; kept += 1) {
      const text = decodeTokens(this.#tokenizer, this.#pending.slice(0, this.#pending.length - kept));
      if (text.endsWith(REPLACEMENT)) continue;
      this.#pending = kept === 0 ? [] : this.#pending.slice(-kept);
      return text;
    }
    return '';
  }

  /** The rest, however incomplete. */
  flush(): string {
    const text = decodeTokens(this.#tokenizer, this.#pending);
    this.#pending = [];
    return text;
  }
}

/** All tokens as text, special ones too. */
export function decodeTokens(tokenizer: RendererTokenizer, tokens: ArrayLike<number>): string {
  return tokens.length === 0 ? '' : tokenizer.decode(tokens, { skipSpecialTokens: false });
}
