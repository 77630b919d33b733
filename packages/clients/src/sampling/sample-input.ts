import { ModelInput, type SampleResponse, type SamplingParams, type TensorData } from '@tinkex/types';
import { isPlainObject, type SampleRequest } from '@tinkex/types/wire';

/** A prompt: a `ModelInput`, or token IDs. */
export type Prompt = ModelInput | readonly number[] | Int32Array;

/** The input of `sample`. */
export interface SampleInput {
  readonly prompt: Prompt;
  /** How many sequences to sample. Default 1. */
  readonly numSamples?: number | undefined;
  /** Length, randomness, stop conditions. Default: the protocol's (temperature 1, no limit set). */
  readonly samplingParams?: SamplingParams | undefined;
  /** Also return the log-probability of each prompt token. Default false. */
  readonly includePromptLogprobs?: boolean | undefined;
  /** Also return the `k` likeliest tokens at each prompt position. Default 0: none. */
  readonly topkPromptLogprobs?: number | undefined;
  /** Also return the `k` likeliest tokens at each sampled position. Default 0: none. */
  readonly topkSampleLogprobs?: number | undefined;
  /**
   * Also return the log-probabilities of these token IDs: `int64` of shape [prompt tokens - 1, K]. Row i is scored at prompt position i + 1;
   * -1 is not scored. Make it smaller with `toSmallest({ padValue: -1 })` if most cells are -1. Default: none.
   */
  readonly targetPromptLogprobs?: TensorData | undefined;
  /** Also return `k` tokens sampled at each prompt position after the first, at the temperature of this call. Default 0: none. */
  readonly promptAltTokensK?: number | undefined;
  /** Score only the last n prompt tokens. The others get NaN. Needs `includePromptLogprobs`. Default: all. */
  readonly promptLogprobsLastN?: number | undefined;
}

/** All of a request except its prompt and its sequence ID. */
export type SampleSettings = {
  readonly [Name in 'numSamples' | 'samplingParams' | 'promptLogprobs' | 'topkPromptLogprobs']-?: NonNullable<SampleRequest[Name]>;
} & Pick<SampleRequest, 'topkSampleLogprobs' | 'targetPromptLogprobs' | 'promptAltTokensK' | 'promptLogprobsLastN' | 'recordStabilityInfo'>;

const NO_PARAMS = {};

/**
 * The settings of an input, copied: callers may change and reuse their objects while the call is queued. Newer fields are left out at their
 * default, because older servers refuse them.
 */
export function copySettings(input: SampleInput, recordsStabilityInfo: boolean): SampleSettings {
  return {
    numSamples: input.numSamples ?? 1,
    samplingParams: input.samplingParams === undefined ? NO_PARAMS : copyParams(input.samplingParams),
    promptLogprobs: input.includePromptLogprobs ?? false,
    topkPromptLogprobs: input.topkPromptLogprobs ?? 0,
    topkSampleLogprobs: input.topkSampleLogprobs || undefined,
    targetPromptLogprobs: input.targetPromptLogprobs,
    promptAltTokensK: input.promptAltTokensK || undefined,
    promptLogprobsLastN: input.promptLogprobsLastN,
    recordStabilityInfo: recordsStabilityInfo || undefined,
  };
}

function copyParams(params: SamplingParams): SamplingParams {
  const { stop } = params;
  // Newer servers take only lists.
  const list = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? [...stop] : stop;
  // A copy would lose what an instance of a class inherits; the codec can read such an object.
  if (!isPlainObject(params)) return list === stop ? params : Object.assign(Object.create(params) as SamplingParams, { stop: list });
  return list === undefined ? { ...params } : { ...params, stop: list };
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
