import type { SampledSequence, SampleResponse, SamplingParams } from '@tinkex/types';
import { contextSymbols } from './context-symbols.js';
import { type EngineSampleInput, type EngineSampler, EngineUserError } from './engine.js';
import type { LanguageModel } from './language-model.js';
import { type PromptScoring, scorePrompt, TopkRows } from './prompt-scores.js';
import type { RandomStream } from './random.js';
import { StopCondition } from './stop-condition.js';
import { type ChoiceSettings, chooseToken } from './token-choice.js';

/** Gives the stream of numbers for sample `index` of a call; `seed` is the caller's. */
export type SampleStreams = (seed: number | bigint | undefined) => (index: number) => RandomStream;

/** Fixed weights to sample from. */
export class LearnSampler implements EngineSampler {
  readonly #model: LanguageModel;
  readonly #maxContextLength: number;
  readonly #streams: SampleStreams;

  constructor(model: LanguageModel, maxContextLength: number, streams: SampleStreams) {
    this.#model = model;
    this.#maxContextLength = maxContextLength;
    this.#streams = streams;
  }

  /**
   * Log-probabilities are those of the model itself, before temperature and truncation: the same numbers a training forward pass reports.
   * Throws {@link EngineUserError} for parameters out of range and for a prompt that leaves no room.
   */
  sample(input: EngineSampleInput): SampleResponse {
    const prompt = contextSymbols(input.prompt, this.#maxContextLength, 'prompt');
    const settings = choiceSettings(input.samplingParams);
    const stop = new StopCondition(input.samplingParams.stop);
    const room = this.#room(prompt.length, input.samplingParams.maxTokens);
    checkCount('num_samples', input.numSamples, 1);
    const { topkSampleLogprobs = 0 } = input;
    checkCount('topk_sample_logprobs', topkSampleLogprobs, 0);
    const streamOf = this.#streams(input.samplingParams.seed);
    const scores = scorePrompt(this.#model, prompt, promptScoring(input, settings, prompt.length, streamOf));
    const sequences: SampledSequence[] = [];
    for (let index = 0; index < input.numSamples; index++) {
      sequences.push(this.#continue(prompt, room, settings, stop, topkSampleLogprobs, streamOf(index)));
    }
    return { sequences, ...scores, promptCacheHitTokens: 0 };
  }

  #room(promptLength: number, maxTokens: number | undefined): number {
    const room = this.#maxContextLength - promptLength;
    if (maxTokens !== undefined) checkCount('max_tokens', maxTokens, 1);
    if (room < (maxTokens ?? 1)) {
      throw new EngineUserError(
        `The prompt has ${promptLength} tokens and max_tokens is ${maxTokens ?? 'unset'}; together they exceed the context of ${this.#maxContextLength}.`,
      );
    }
    return maxTokens ?? room;
  }

  #continue(
    prompt: Int32Array,
    room: number,
    settings: ChoiceSettings,
    stop: StopCondition,
    k: number,
    random: RandomStream,
  ): SampledSequence {
    const model = this.#model;
    const topk = k === 0 ? undefined : new TopkRows(k, room);
    const context = new Int32Array(prompt.length + room);
    context.set(prompt);
    const logprobs = new Float32Array(room);
    let length = 0;
    let stopReason: SampledSequence['stopReason'] = 'length';
    while (length < room && stopReason === 'length') {
      const end = prompt.length + length;
      model.forward(context, end - 1);
      const token = chooseToken(model.logits, settings, random);
      context[end] = token;
      logprobs[length] = model.logprob(token);
      topk?.set(length, model);
      length++;
      if (stop.isMet(context, prompt.length, end + 1)) stopReason = 'stop';
    }
    return {
      tokens: context.slice(prompt.length, prompt.length + length),
      logprobs: logprobs.slice(0, length),
      stopReason,
      ...(topk === undefined ? {} : { topkLogprobs: topk.first(length) }),
    };
  }
}

/** Alternatives take numbers from a stream that no sample uses: asking for them changes no sample. */
const ALTERNATIVES_STREAM = 0xffff_ffff;

function promptScoring(
  input: EngineSampleInput,
  { temperature }: ChoiceSettings,
  promptLength: number,
  streamOf: (index: number) => RandomStream,
): PromptScoring {
  const { promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokensK = 0, promptLogprobsLastN: lastN } = input;
  checkCount('topk_prompt_logprobs', topkPromptLogprobs, 0);
  checkCount('prompt_alt_tokens_k', promptAltTokensK, 0);
  if (lastN !== undefined && !(lastN >= 1 && lastN < promptLength)) {
    throw new EngineUserError(
      `prompt_logprobs_last_n must be from 1 to ${promptLength - 1}, one less than the prompt's tokens, got ${lastN}.`,
    );
  }
  return {
    hasLogprobs: promptLogprobs,
    topk: topkPromptLogprobs,
    from: lastN === undefined ? 1 : promptLength - lastN,
    targets: targetPromptLogprobs,
    alternatives: promptAltTokensK,
    choice: { temperature, topK: -1, topP: 1 },
    random: streamOf(ALTERNATIVES_STREAM),
  };
}

function choiceSettings({ temperature = 1, topK = -1, topP = 1 }: SamplingParams): ChoiceSettings {
  if (!Number.isFinite(temperature) || temperature < 0) throw new EngineUserError(`temperature must be at least 0, got ${temperature}.`);
  if (!(topP > 0 && topP <= 1)) throw new EngineUserError(`top_p must be above 0 and at most 1, got ${topP}.`);
  if (!Number.isInteger(topK) || topK < -1) {
    throw new EngineUserError(`top_k must be -1 (no limit) or a positive whole number, got ${topK}.`);
  }
  return { temperature, topK, topP };
}

function checkCount(name: string, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) {
    throw new EngineUserError(`${name} must be a whole number of at least ${least}, got ${value}.`);
  }
}
