import type { RendererTokenizer } from '@tinkex/renderers';
import { ConfigurationError, ModelInput } from '@tinkex/types';

/** Scores the tokens of a prompt. A `SamplingClient` does. */
export interface PromptScorer {
  computeLogprobs(prompt: ModelInput): PromiseLike<Float32Array>;
}

/** What {@link verifyServing} compares. */
export interface VerifyServingOptions {
  /** The API to check, such as `${gateway.url}/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The name of the model there. */
  readonly model: string;
  /** Samples from the weights that should be served, directly. */
  readonly adapter: PromptScorer;
  /** Samples from the base model, directly. */
  readonly base: PromptScorer;
  readonly tokenizer: RendererTokenizer;
  /** Texts to continue. Texts like those you trained on tell the two apart best. */
  readonly prompts: readonly string[];
  /** How many tokens to sample for each prompt. Default 16. */
  readonly maxTokens?: number | undefined;
  /** How far log-probabilities of the same weights may lie apart, per token. Servers round differently. Default 0.05. */
  readonly tolerance?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link verifyServing} found. Differences are mean absolute differences of log-probabilities per token. */
export interface ServingReport {
  /** `indistinguishable`: on these prompts the adapter and the base model say the same. */
  readonly verdict: 'adapter' | 'base' | 'neither' | 'indistinguishable';
  readonly differenceFromAdapter: number;
  readonly differenceFromBase: number;
  readonly tokens: number;
}

interface TextCompletion {
  readonly choices: readonly [
    { readonly text: string; readonly token_ids?: readonly number[]; readonly logprobs: { readonly token_logprobs: readonly number[] } },
  ];
}

/**
 * Checks that an OpenAI-compatible endpoint serves your weights and not the base model: samples there, and scores what it sampled with both, directly.
 *
 * Throws a `ConfigurationError` when the endpoint refuses, gives no log-probabilities, or samples nothing that can be scored.
 */
export async function verifyServing(options: VerifyServingOptions): Promise<ServingReport> {
  const { adapter, base, tokenizer, prompts, tolerance = 0.05 } = options;
  const sums = { adapter: 0, base: 0, apart: 0, tokens: 0 };
  for (const prompt of prompts) {
    const { text, tokenIds, logprobs } = await sampleServed(options, prompt);
    const promptIds = Array.from(tokenizer.encode(prompt));
    const start = promptIds.length;
    const all = Int32Array.from(tokenIds === undefined ? Array.from(tokenizer.encode(prompt + text)) : [...promptIds, ...tokenIds]);
    // A text that splits into other tokens than those sampled has other log-probabilities: nothing to compare.
    if (all.length !== start + logprobs.length) continue;
    const [byAdapter, byBase] = await Promise.all([adapter, base].map((scorer) => scorer.computeLogprobs(ModelInput.fromInts(all))));
    for (const [index, logprob] of logprobs.entries()) {
      const one = byAdapter?.[start + index] ?? Number.NaN;
      const other = byBase?.[start + index] ?? Number.NaN;
      sums.adapter += Math.abs(logprob - one);
      sums.base += Math.abs(logprob - other);
      sums.apart += Math.abs(one - other);
      sums.tokens += 1;
    }
  }
  if (!(sums.tokens > 0)) refuse('prompts', 'Nothing that was sampled can be scored. Pass more or longer prompts.');
  const differenceFromAdapter = sums.adapter / sums.tokens;
  const differenceFromBase = sums.base / sums.tokens;
  const isAdapter = differenceFromAdapter <= tolerance;
  const isBase = differenceFromBase <= tolerance;
  const verdict = sums.apart / sums.tokens <= tolerance ? 'indistinguishable' : isAdapter ? 'adapter' : isBase ? 'base' : 'neither';
  return { verdict: isAdapter || isBase ? verdict : 'neither', differenceFromAdapter, differenceFromBase, tokens: sums.tokens };
}

async function sampleServed({ baseUrl, apiKey, model, maxTokens = 16, signal, ...options }: VerifyServingOptions, prompt: string) {
  const { fetch = globalThis.fetch } = options;
  const response = await fetch(`${baseUrl.replace(/\/$/, '')}/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt, max_tokens: maxTokens, temperature: 1, logprobs: 1, seed: 1, return_token_ids: true }),
    signal: signal ?? null,
  });
  if (!response.ok) refuse('baseUrl', `The endpoint answered with status ${response.status}. Check baseUrl, apiKey and model.`);
  const { text, token_ids: tokenIds, logprobs } = ((await response.json()) as TextCompletion).choices[0];
  if (!logprobs?.token_logprobs) refuse('baseUrl', 'The endpoint gives no log-probabilities, so it cannot be checked.');
  return { text, tokenIds, logprobs: logprobs.token_logprobs };
}

function refuse(option: string, message: string): never {
  throw new ConfigurationError({ option, message });
}
