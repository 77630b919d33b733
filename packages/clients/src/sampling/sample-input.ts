import { ModelInput, type SampleResponse, type SamplingParams } from '@tinkex/types';
import { isPlainObject, type SampleRequest } from '@tinkex/types/wire';

/** A prompt: a `ModelInput`, or token ids. */
export type Prompt = ModelInput | readonly number[] | Int32Array;

/** What `sample` takes. */
export interface SampleInput {
  readonly prompt: Prompt;
  /** How many sequences to sample. Default 1. */
  readonly numSamples?: number;
  /** Length, randomness, stop conditions. Default: the protocol's (temperature 1, no limit set). */
  readonly samplingParams?: SamplingParams;
  /** Also return the log-probability of each prompt token. Default false. */
  readonly includePromptLogprobs?: boolean;
  /** Also return the `k` likeliest tokens at each prompt position. Default 0: none. */
  readonly topkPromptLogprobs?: number;
}

/** All of a request that is not its prompt or its number. */
export type SampleSettings = {
  readonly [K in 'numSamples' | 'samplingParams' | 'promptLogprobs' | 'topkPromptLogprobs']-?: NonNullable<SampleRequest[K]>;
};

const NO_PARAMS = {};

/** What an input asks for, now: callers may change their objects and use them again while the call stands in line. */
export function ownSettings(input: SampleInput): SampleSettings {
  return {
    numSamples: input.numSamples ?? 1,
    samplingParams: input.samplingParams === undefined ? NO_PARAMS : ownParams(input.samplingParams),
    promptLogprobs: input.includePromptLogprobs ?? false,
    topkPromptLogprobs: input.topkPromptLogprobs ?? 0,
  };
}

function ownParams(params: SamplingParams): SamplingParams {
  // A copy would lose what an object of a class inherits; the codec knows what to do with such a one.
  if (!isPlainObject(params)) return params;
  const own = { ...params };
  return Array.isArray(own.stop) ? { ...own, stop: [...own.stop] } : own;
}

/** The prompt as a `ModelInput`. */
export function toModelInput(prompt: Prompt): ModelInput {
  return ModelInput.isInstance(prompt) ? prompt : ModelInput.fromInts(prompt);
}

/** Tokens of a prompt, or undefined when an image in it does not say how many it takes. */
export function promptTokenCount(prompt: ModelInput): number | undefined {
  let count = 0;
  for (const chunk of prompt.chunks) {
    if (chunk.type === 'encoded_text') count += chunk.tokens.length;
    else return countSlowly(prompt);
  }
  return count;
}

function countSlowly(prompt: ModelInput): number | undefined {
  for (const chunk of prompt.chunks) if ('expectedTokens' in chunk && chunk.expectedTokens === undefined) return undefined;
  return prompt.length;
}

/**
 * Log-probabilities with one entry per prompt token. Some servers leave out the first token, for which there is none: it becomes NaN.
 */
export function alignPromptLogprobs(response: SampleResponse, promptTokens: number | undefined): SampleResponse {
  const logprobs = response.promptLogprobs;
  if (logprobs === undefined || promptTokens === undefined || logprobs.length !== promptTokens - 1) return response;
  const aligned = new Float32Array(promptTokens);
  aligned[0] = Number.NaN;
  aligned.set(logprobs, 1);
  return { ...response, promptLogprobs: aligned };
}
