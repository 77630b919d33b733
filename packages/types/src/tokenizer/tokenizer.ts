/** What an encoder may return: token IDs, or an object with them under `ids` (as `@huggingface/tokenizers` does). */
export type Encoded = ArrayLike<number> | { readonly ids: ArrayLike<number> };

/** Options of {@link Tokenizer.decode}. */
export interface DecodeOptions {
  /** Leave special tokens, such as the end of the text, out of the text. Default: what the tokenizer does by itself. */
  readonly skipSpecialTokens?: boolean | undefined;
}

/** Text to token IDs and back. Sampled tokens are an `Int32Array`, which `decode` takes as it is. */
export interface Tokenizer {
  encode(text: string): Encoded;
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  /** The ID of a token by its exact text, special tokens included; undefined if the vocabulary has no such token. */
  tokenId?(text: string): number | undefined;
  /** The ID of the token that ends a text. */
  readonly eosTokenId?: number | undefined;
}

/** The token IDs of an encoder's result. */
export function encodedIds(encoded: Encoded): ArrayLike<number> {
  return 'ids' in encoded ? encoded.ids : encoded;
}
