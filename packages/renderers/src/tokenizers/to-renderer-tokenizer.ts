import { encodedIds, type Tokenizer } from '@tinkex/types';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { type HuggingFaceTokenizer, huggingFaceTokenizer } from './hugging-face-tokenizer.js';

/** A client's tokenizer, as `getTokenizer()` returns it, in the form that renderers use. */
export function toRendererTokenizer(tokenizer: Tokenizer): RendererTokenizer {
  if ('token_to_id' in tokenizer) return huggingFaceTokenizer(tokenizer as unknown as HuggingFaceTokenizer);
  return {
    encode: (text) => encodedIds(tokenizer.encode(text)),
    decode: (ids, { skipSpecialTokens = false } = {}) => tokenizer.decode(ids, { skipSpecialTokens }),
    tokenId: (token) => tokenizer.tokenId?.(token),
    eosTokenId: tokenizer.eosTokenId,
  };
}
