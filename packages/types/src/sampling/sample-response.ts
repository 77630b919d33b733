import type { TensorData } from '../tensor/tensor-data.js';
import type { TopkLogprobs } from './topk-logprobs.js';

/** Why a sequence ended: a stop text or token, or the limit. */
export type StopReason = 'stop' | 'length';

/** One sample. */
export interface SampledSequence {
  readonly tokens: Int32Array;
  /** Of each token, when the server gives them. */
  readonly logprobs?: Float32Array | undefined;
  readonly stopReason: StopReason;
  /** The server's name of this sample, when it gives one. */
  readonly sequenceId?: string | undefined;
  /** The most likely tokens at each position of the sample. Unset when not requested. */
  readonly topkLogprobs?: TopkLogprobs | undefined;
}

/** Other tokens that the model drew for each prompt token after the first, independently of each other. */
export interface PromptAltTokens {
  /** `int64`, [prompt tokens - 1, k]: row i belongs to prompt position i + 1. */
  readonly tokens: TensorData;
  /** `float32`, of the same shape: the log-probability of each. */
  readonly logprobs: TensorData;
}

/** Samples of one prompt. */
export interface SampleResponse {
  readonly sequences: readonly SampledSequence[];
  /** Of each token of the prompt; NaN where none was computed, such as the first. Unset when not requested. */
  readonly promptLogprobs?: Float32Array | undefined;
  /** Unset when not requested. */
  readonly topkPromptLogprobs?: TopkLogprobs | undefined;
  /** `float32`, of the requested shape and layout; 0 where the request had -1. Unset when not requested. */
  readonly targetPromptLogprobs?: TensorData | undefined;
  /** Unset when not requested. */
  readonly promptAltTokens?: PromptAltTokens | undefined;
  /** How many tokens of the prompt were charged as cached; counted once, whatever the number of samples. */
  readonly promptCacheHitTokens: number;
}

/** Prompt log-probabilities as a list: null where none was computed (NaN in the array). */
export function promptLogprobsToList(logprobs: Float32Array): (number | null)[] {
  return Array.from(logprobs, (logprob) => (Number.isNaN(logprob) ? null : logprob));
}
