import type { DecodeOptions, Tokenizer } from '@tinkex/types';
import { isPlainObject } from '@tinkex/types/wire';
import { type TokenizerFiles, tokenizerUnavailable } from './tokenizer-source.js';

/** The part of `@huggingface/tokenizers` that is used. The package is an optional peer: it is imported when first needed. */
interface TokenizersModule {
  readonly Tokenizer: new (tokenizer: object, config: object) => HuggingFaceTokenizer;
}

/** A tokenizer of `@huggingface/tokenizers`. `decode` takes typed arrays too, so that sampled tokens can be passed as they are. */
export interface HuggingFaceTokenizer extends Tokenizer {
  encode(
    text: string,
    options?: { add_special_tokens?: boolean | undefined },
  ): { ids: number[]; tokens: string[]; attention_mask: number[] };
  decode(ids: ArrayLike<number>, options?: DecodeOptions & { skip_special_tokens?: boolean | undefined }): string;
  token_to_id(text: string): number | undefined;
  tokenId(text: string): number | undefined;
  eosTokenId?: number | undefined;
}

/**
 * Bundlers must neither follow this import nor fail where the peer is missing: the comments keep webpack, Turbopack and Vite from resolving it, the `catch`
 * keeps esbuild from refusing it. docs/decisions/0013-optional-peers-and-bundlers.md
 */
function importTokenizers(): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@huggingface/tokenizers').catch(
    (error: unknown) => {
      throw error;
    },
  );
}

/** Builds a tokenizer from its files. Throws `ConfigurationError` when the optional peer is not installed or refuses the files. */
export async function buildHuggingFaceTokenizer(
  id: string,
  files: TokenizerFiles,
  importPeer: () => Promise<unknown> = importTokenizers,
): Promise<HuggingFaceTokenizer> {
  let peer: TokenizersModule;
  try {
    peer = (await importPeer()) as TokenizersModule;
  } catch (error) {
    throw tokenizerUnavailable(id, 'the package @huggingface/tokenizers is not installed (npm install @huggingface/tokenizers)', error);
  }
  let tokenizer: HuggingFaceTokenizer;
  try {
    tokenizer = new peer.Tokenizer(files.tokenizer, files.config);
  } catch (error) {
    throw tokenizerUnavailable(id, '@huggingface/tokenizers does not understand its tokenizer.json', error);
  }
  const decode = tokenizer.decode.bind(tokenizer);
  // The library insists on a plain array; sampled tokens are typed arrays.
  tokenizer.decode = (ids, { skipSpecialTokens, ...options } = {}) =>
    decode(Array.from(ids), skipSpecialTokens === undefined ? options : { ...options, skip_special_tokens: skipSpecialTokens });
  tokenizer.tokenId = (text) => tokenizer.token_to_id(text);
  tokenizer.eosTokenId = endTokenId(tokenizer, files.config);
  return tokenizer;
}

/** The token that `tokenizer_config.json` names as the end of a text: a string, or an object with its content. */
function endTokenId(tokenizer: HuggingFaceTokenizer, { eos_token: end }: TokenizerFiles['config']): number | undefined {
  const text = isPlainObject(end) ? end['content'] : end;
  return typeof text === 'string' ? tokenizer.token_to_id(text) : undefined;
}
