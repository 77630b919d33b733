import type { ModelInputChunk } from '@tinkex/types';
import type { SupervisedExample } from '../core/renderer.js';
import type { RendererTokenizer } from '../core/tokenizer.js';

/** One token as a person reads it; several where only together they are a character. */
export interface ShownToken {
  /** Empty for an image or audio. */
  readonly ids: readonly number[];
  readonly text: string;
  /** Of the first of them. */
  readonly weight: number;
}

/** A character of UTF-8 has at most four bytes, each of which may be a token. */
const MAX_TOKENS_PER_CHARACTER = 4;

/** The tokens of an example in order. */
export function shownTokens({ modelInput, weights }: SupervisedExample, tokenizer: Pick<RendererTokenizer, 'decode'>): ShownToken[] {
  const shown: ShownToken[] = [];
  let position = 0;
  for (const chunk of modelInput.chunks) {
    if (chunk.type === 'encoded_text') {
      shown.push(...textTokens(chunk.tokens, weights.subarray(position), tokenizer));
      position += chunk.tokens.length;
    } else {
      const length = lengthOf(chunk);
      shown.push({ ids: [], text: `<${chunk.type}: ${length} tokens>`, weight: weights[position] ?? 0 });
      position += length;
    }
  }
  return shown;
}

function textTokens(tokens: Int32Array, weights: Float32Array, tokenizer: Pick<RendererTokenizer, 'decode'>): ShownToken[] {
  const shown: ShownToken[] = [];
  let ids: number[] = [];
  tokens.forEach((id, index) => {
    ids.push(id);
    const text = tokenizer.decode(ids);
    const mayContinue = text.endsWith('\ufffd') && ids.length < MAX_TOKENS_PER_CHARACTER && index + 1 < tokens.length;
    if (mayContinue) return;
    shown.push({ ids, text, weight: weights[index + 1 - ids.length] ?? 0 });
    ids = [];
  });
  return shown;
}

function lengthOf(chunk: Exclude<ModelInputChunk, { type: 'encoded_text' }>): number {
  return 'expectedTokens' in chunk ? (chunk.expectedTokens ?? 0) : 0;
}

/** How much of an example is trained on, in words. */
export function summarize({ weights }: SupervisedExample): string {
  const trained = weights.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0);
  return `${trained} of ${weights.length} tokens are trained on.`;
}
