/** The contents of a `tokenizer_config.json`, as far as they are read. */
export interface TokenizerConfig {
  readonly bos_token?: TokenizerConfigToken | null | undefined;
  readonly eos_token?: TokenizerConfigToken | null | undefined;
  /** Added tokens by ID. Only tokenizers without a `tokenizer.json` need them here. */
  readonly added_tokens_decoder?:
    | Readonly<Record<string, { readonly content: string; readonly special?: boolean | undefined }>>
    | undefined;
}

/** A token, or an object with its text. */
export type TokenizerConfigToken = string | { readonly content: string };

/** The IDs of the tokens that begin and end a text. */
export function textBoundsOf(config: TokenizerConfig, tokenId: (token: string) => number | undefined) {
  const idOf = (token: TokenizerConfigToken | null | undefined): number | undefined => {
    if (token === null || token === undefined) return undefined;
    return tokenId(typeof token === 'string' ? token : token.content);
  };
  return { bosTokenId: idOf(config.bos_token), eosTokenId: idOf(config.eos_token) };
}
