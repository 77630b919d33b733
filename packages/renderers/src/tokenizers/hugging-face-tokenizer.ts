import { ConfigurationError } from '@tinkex/types';
import type { AddedTokens, RendererTokenizer } from '../core/tokenizer.js';
import { type TokenizerConfig, textBoundsOf } from './tokenizer-config.js';
import { bpeTokenizer, type TokenizerJson } from './tokenizer-json.js';

/** A `Tokenizer` of `@huggingface/tokenizers`. */
export interface HuggingFaceTokenizer {
  encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: number[] };
  decode(ids: number[], options: { readonly skip_special_tokens: boolean; readonly clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
}

/** Where it keeps the files it was made of. */
interface Files {
  readonly tokenizer?: TokenizerJson | undefined;
  readonly config?: TokenizerConfig | undefined;
}

type HuggingFaceTokenizerClass = new (tokenizer: object, config: object) => HuggingFaceTokenizer;

/**
 * The tokenizer of a renderer from a `Tokenizer` of `@huggingface/tokenizers`.
 *
 * Byte-level tokenizers (nearly all of today's) are encoded by {@link bpeTokenizer}, which is many times faster and gives the same IDs; all others by the
 * tokenizer you pass.
 *
 * @example
 * ```ts
 * import { Tokenizer } from '@huggingface/tokenizers';
 * import { huggingFaceTokenizer } from '@tinkex/renderers';
 *
 * export function fromFiles(tokenizerJson: object, tokenizerConfig: object) {
 *   return huggingFaceTokenizer(new Tokenizer(tokenizerJson, tokenizerConfig));
 * }
 * ```
 */
export function huggingFaceTokenizer(raw: HuggingFaceTokenizer): RendererTokenizer {
  const { tokenizer, config = {} } = raw as Files;
  if (tokenizer === undefined) return wrapTokenizer(raw);
  try {
    return bpeTokenizer(tokenizer, config);
  } catch (error) {
    if (ConfigurationError.isInstance(error) && error.code === 'TINKEX_TOKENIZER_UNSUPPORTED') return wrapTokenizer(raw);
    throw error;
  }
}

/** A renderer's tokenizer that leaves all work to `raw`. */
export function wrapTokenizer(raw: HuggingFaceTokenizer): RendererTokenizer {
  const { config = {} } = raw as Files;
  const encoders = new Map<AddedTokens, HuggingFaceTokenizer>([['all', raw]]);
  return {
    encode(text, { addedTokens = 'all' } = {}) {
      let encoder = encoders.get(addedTokens);
      if (encoder === undefined) {
        encoder = withFewerAddedTokens(raw, addedTokens);
        encoders.set(addedTokens, encoder);
      }
      return encoder.encode(text, { add_special_tokens: false }).ids;
    },
    decode(ids, { skipSpecialTokens = false } = {}) {
      // It refuses to decode nothing.
      if (ids.length === 0) return '';
      return raw.decode(Array.from(ids), { skip_special_tokens: skipSpecialTokens, clean_up_tokenization_spaces: false });
    },
    tokenId: (token) => raw.token_to_id(token),
    ...textBoundsOf(config, (token) => raw.token_to_id(token)),
  };
}

/** `@huggingface/tokenizers` cannot leave tokens in a text alone; a second tokenizer without them does. */
function withFewerAddedTokens(raw: HuggingFaceTokenizer, which: AddedTokens): HuggingFaceTokenizer {
  const { tokenizer, config = {} } = raw as Files;
  if (tokenizer === undefined) {
    const message = `This tokenizer cannot encode text with addedTokens: '${which}'. Pass a Tokenizer of @huggingface/tokenizers, or use bpeTokenizer.`;
    throw new ConfigurationError({ option: 'addedTokens', message });
  }
  const tokens = (tokenizer.added_tokens ?? []).filter(({ special }) => which === 'ordinary' && special !== true);
  return new (raw.constructor as HuggingFaceTokenizerClass)({ ...tokenizer, added_tokens: tokens }, config);
}
