/** What an encoder may return: token ids, or an object with them under `ids` (as `@huggingface/tokenizers` does). */
export type Encoded = ArrayLike<number> | { readonly ids: ArrayLike<number> };

/** Text to token ids and back. `Tokenizer` of `@huggingface/tokenizers` satisfies it as it is. */
export interface Tokenizer {
  encode(text: string): Encoded;
  decode(ids: number[]): string;
}

/** The token ids of an encoder's result. */
export function encodedIds(encoded: Encoded): ArrayLike<number> {
  return 'ids' in encoded ? encoded.ids : encoded;
}
