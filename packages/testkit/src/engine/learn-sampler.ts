import { type SampledSequence, type SampleResponse, type SamplingParams, TopkLogprobs } from '@tinkex/types';
import { contextSymbols, isToken } from './context-symbols.js';
import { type EngineSampleInput, type EngineSampler, EngineUserError } from './engine.js';
import { VOCABULARY } from './geometry.js';
import type { LanguageModel } from './language-model.js';
import type { RandomStream } from './random.js';
import { StopCondition } from './stop-condition.js';
import { type ChoiceSettings, chooseToken, rankTokens } from './token-choice.js';

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
    checkCount('topk_prompt_logprobs', input.topkPromptLogprobs, 0);
    const streamOf = this.#streams(input.samplingParams.seed);
    const sequences: SampledSequence[] = [];
    for (let index = 0; index < input.numSamples; index++) sequences.push(this.#continue(prompt, room, settings, stop, streamOf(index)));
    return { sequences, ...this.#scorePrompt(prompt, input), promptCacheHitTokens: 0 };
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

  #continue(prompt: Int32Array, room: number, settings: ChoiceSettings, stop: StopCondition, random: RandomStream): SampledSequence {
    const model = this.#model;
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
      length++;
      if (stop.isMet(context, prompt.length, end + 1)) stopReason = 'stop';
    }
    return { tokens: context.slice(prompt.length, prompt.length + length), logprobs: logprobs.slice(0, length), stopReason };
  }

  /** One walk over the prompt for both kinds of prompt log-probabilities. The first position has none; neither have images and audio. */
  #scorePrompt(prompt: Int32Array, input: EngineSampleInput): Pick<SampleResponse, 'promptLogprobs' | 'topkPromptLogprobs'> {
    const k = Math.min(input.topkPromptLogprobs, VOCABULARY);
    if (!input.promptLogprobs && k === 0) return {};
    const model = this.#model;
    const promptLogprobs = new Float32Array(prompt.length).fill(Number.NaN);
    const tokenIds = new Int32Array(prompt.length * k);
    const logprobs = new Float32Array(prompt.length * k).fill(EMPTY_LOGPROB);
    for (let position = 1; position < prompt.length; position++) {
      const symbol = prompt[position] as number;
      if (!isToken(symbol)) continue;
      model.forward(prompt, position - 1);
      promptLogprobs[position] = model.logprob(symbol);
      if (k === 0) continue;
      const best = rankTokens(model.logits).subarray(0, k);
      tokenIds.set(best, position * k);
      best.forEach((token, column) => {
        logprobs[position * k + column] = model.logprob(token);
      });
    }
    return {
      ...(input.promptLogprobs ? { promptLogprobs } : {}),
      ...(k > 0 ? { topkPromptLogprobs: new TopkLogprobs({ tokenIds, logprobs, k, length: prompt.length }) } : {}),
    };
  }
}

/** What an empty cell of the top-k matrices holds. */
const EMPTY_LOGPROB = -99999;

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
