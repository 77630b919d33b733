/**
 * Which added tokens are recognized in text: `all`; `ordinary`, only those not marked special (`<think>`, `<tool_call>`), so that `<|im_end|>` in a
 * user's text stays text; or `none`.
 */
export type AddedTokens = 'all' | 'ordinary' | 'none';

/** Options of {@link RendererTokenizer.encode}. */
export interface EncodeOptions {
  /** Default `all`. */
  readonly addedTokens?: AddedTokens | undefined;
}

/** What a renderer needs of a tokenizer. `huggingFaceTokenizer` makes one of a `tokenizer.json`. */
export interface RendererTokenizer {
  /** Token ids of `text`, without any token put in front or behind. */
  encode(text: string, options?: EncodeOptions): ArrayLike<number>;
  /** Text of `ids`. Special tokens are written as text unless `skipSpecialTokens` is true; bytes that are not UTF-8 become U+FFFD. */
  decode(ids: ArrayLike<number>, options?: { readonly skipSpecialTokens?: boolean | undefined }): string;
  /** The id of a token by its text, such as `<|im_end|>`. */
  tokenId(token: string): number | undefined;
  readonly bosTokenId?: number | undefined;
  readonly eosTokenId?: number | undefined;
}
