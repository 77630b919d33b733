import type { TopkLogprobs } from './topk-logprobs.js';

/** Why a sequence ended: a stop text or token, or the limit. */
export type StopReason = 'stop' | 'length';

/** One sample. */
export interface SampledSequence {
  readonly tokens: Int32Array;
  /** Of each token, when the server gives them. */
  readonly logprobs?: Float32Array | undefined;
  readonly stopReason: StopReason;
  /** Newer servers name each sample. */
  readonly sequenceId?: string | undefined;
}

/** Samples of one prompt. */
export interface SampleResponse {
  readonly sequences: readonly SampledSequence[];
  /** Of each token of the prompt; NaN where none was computed, such as the first. Unset when not asked for. */
  readonly promptLogprobs?: Float32Array | undefined;
  /** Unset when not asked for. */
  readonly topkPromptLogprobs?: TopkLogprobs | undefined;
  /** How many tokens of the prompt were charged as cached; counted once, whatever the number of samples. */
  readonly promptCacheHitTokens: number;
}

/** Prompt log-probabilities as a list: null where none was computed (NaN in the array). */
export function promptLogprobsToList(logprobs: Float32Array): (number | null)[] {
  return Array.from(logprobs, (logprob) => (Number.isNaN(logprob) ? null : logprob));
}
