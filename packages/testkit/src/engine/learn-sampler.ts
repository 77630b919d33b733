import type { SampledSequence, SampleResponse, SamplingParams } from '@tinkex/types';
import { contextSymbols } from './context-symbols.js';
import { type EngineSampleInput, type EngineSampler, EngineUserError } from './engine.js';
import { type PromptScoring, scorePrompt, TopkRows } from './prompt-scores.js';
import type { SampleStream, SampleStreams } from './sample-streams.js';
import { StopCondition } from './stop-condition.js';
import type { ChoiceSettings } from './token-choice.js';
import type { TokenScorer } from './token-scorer.js';
import type { Vocabulary } from './vocabulary.js';

/** What a sampler needs. */
export interface SamplerParts {
  readonly model: TokenScorer;
  readonly vocabulary: Vocabulary;
  readonly maxContextLength: number;
  readonly streams: SampleStreams;
  /** Whether the log-probabilities of sampled tokens are those after the temperature. */
  readonly isTempered: boolean;
}

/** Fixed weights to sample from. */
export class LearnSampler implements EngineSampler {
  readonly #parts: SamplerParts;

  constructor(parts: SamplerParts) {
    this.#parts = parts;
  }

  /**
   * Log-probabilities of the prompt, and of alternatives, are those of the model itself, before temperature and truncation: the same numbers that a
   * training forward pass reports. So are those of sampled tokens, unless the sampler is tempered: then they are those after the temperature.
   * Throws {@link EngineUserError} for parameters out of range and for a prompt that leaves no room.
   */
  sample(input: EngineSampleInput): SampleResponse {
    const { model, vocabulary, maxContextLength, streams } = this.#parts;
    const prompt = contextSymbols(input.prompt, vocabulary, maxContextLength, 'prompt');
    const settings = choiceSettings(input.samplingParams);
    const stop = new StopCondition(input.samplingParams.stop, vocabulary);
    const room = this.#room(prompt.length, input.samplingParams.maxTokens);
    checkCount('num_samples', input.numSamples, 1);
    const { topkSampleLogprobs = 0 } = input;
    checkCount('topk_sample_logprobs', topkSampleLogprobs, 0);
    const streamOf = streams(input.samplingParams.seed, prompt);
    const scores = scorePrompt(model, vocabulary, prompt, promptScoring(input, settings, prompt.length, streamOf));
    const sequences: SampledSequence[] = [];
    for (let index = 0; index < input.numSamples; index++) {
      sequences.push(this.#continue(prompt, room, settings, stop, topkSampleLogprobs, streamOf(index)));
    }
    return { sequences, ...scores, promptCacheHitTokens: 0 };
  }

  #room(promptLength: number, maxTokens: number | undefined): number {
    const { maxContextLength } = this.#parts;
    const room = maxContextLength - promptLength;
    if (maxTokens !== undefined) checkCount('max_tokens', maxTokens, 1);
    if (room < (maxTokens ?? 1)) {
      throw new EngineUserError(
        `The prompt has ${promptLength} tokens and max_tokens is ${maxTokens ?? 'unset'}; together they exceed the context of ${maxContextLength}.`,
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
    randomAt: SampleStream,
  ): SampledSequence {
    const { model, vocabulary, isTempered } = this.#parts;
    const topk = k === 0 ? undefined : new TopkRows(k, room, vocabulary.size);
    const context = new Int32Array(prompt.length + room);
    context.set(prompt);
    const logprobs = new Float32Array(room);
    let length = 0;
    let stopReason: SampledSequence['stopReason'] = 'length';
    while (length < room && stopReason === 'length') {
      const end = prompt.length + length;
      model.forward(context, end - 1);
      const token = model.draw(settings, randomAt(end));
      context[end] = token;
      logprobs[length] = isTempered ? model.logprobAt(token, settings.temperature) : model.logprob(token);
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
  streamOf: (index: number) => SampleStream,
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
    random: streamOf(ALTERNATIVES_STREAM)(0),
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
