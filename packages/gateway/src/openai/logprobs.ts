import type { RendererTokenizer } from '@tinkex/renderers';
import type { TopkLogprobs } from '@tinkex/types';

/** Sampled tokens and what is known of them. */
export interface ScoredTokens {
  readonly tokens: Int32Array;
  readonly logprobs?: Float32Array | undefined;
  readonly topkLogprobs?: TopkLogprobs | undefined;
}

/** A token as OpenAI writes it. */
function tokenEntry(tokenizer: RendererTokenizer, token: number, logprob: number) {
  const text = tokenizer.decode([token]);
  return { token: text, logprob, bytes: Array.from(new TextEncoder().encode(text)) };
}

/** Log-probabilities of a chat completion: of every sampled token, the thinking and the stop token included. */
export function chatLogprobs(tokenizer: RendererTokenizer, { tokens, logprobs, topkLogprobs }: ScoredTokens) {
  const top = topkLogprobs?.toList();
  const content = Array.from(tokens, (token, index) => ({
    ...tokenEntry(tokenizer, token, logprobs?.[index] ?? Number.NaN),
    top_logprobs: (top?.[index] ?? []).map(([other, logprob]) => tokenEntry(tokenizer, other, logprob)),
  }));
  return { content: logprobs === undefined ? null : content, refusal: null };
}

/** Log-probabilities of a text completion. `offset` is where its text begins. */
export function textLogprobs(tokenizer: RendererTokenizer, { tokens, logprobs, topkLogprobs }: ScoredTokens, offset: number) {
  const texts = Array.from(tokens, (token) => tokenizer.decode([token]));
  let place = offset;
  return {
    tokens: texts,
    token_logprobs: Array.from(tokens, (_, index) => logprobs?.[index] ?? null),
    top_logprobs:
      topkLogprobs
        ?.toList()
        .map((row) => Object.fromEntries((row ?? []).map(([token, logprob]) => [tokenizer.decode([token]), logprob]))) ?? null,
    text_offset: texts.map((text) => {
      const start = place;
      place += text.length;
      return start;
    }),
  };
}
