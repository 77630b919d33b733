import { ConfigurationError, type ModelInput, type SamplingParams, type TopkLogprobs } from '@tinkex/types';
import type { GenerationPromptOptions, Renderer, ResponseDelta } from '../core/renderer.js';
import type { Message } from '../messages/message.js';
import { type CompletionChoice, ResponseReader } from './response-reader.js';
import { DEFAULT_PIECE_TOKENS, type SampledPiece, sampleInPieces } from './sample-in-pieces.js';
import { type AbortSignalLike, type Sampler, throwIfAborted } from './sampler.js';
import { joinStops, type StopRules } from './stop-rules.js';

/** Options of {@link createCompleter}. */
export interface CompleterOptions {
  readonly sampler: Sampler;
  readonly renderer: Renderer;
  /** For every call, unless the call says otherwise. `stop` is added to the stop sequences of the renderer. */
  readonly samplingParams?: SamplingParams | undefined;
  /** How many tokens {@link Completer.stream} samples before it yields what they say; the first time no more than 8. Default 32. */
  readonly pieceTokens?: number | undefined;
}

/** Options of one call of a {@link Completer}. */
export interface CompletionOptions extends GenerationPromptOptions {
  /** Replaces single values of the completer's own. */
  readonly samplingParams?: SamplingParams | undefined;
  /** How many responses to sample. Default 1. */
  readonly numSamples?: number | undefined;
  /** How many of the likeliest tokens to return at each position. Default: none. */
  readonly topLogprobs?: number | undefined;
  /** Rejects the call with `AbortedError`. */
  readonly signal?: AbortSignalLike | undefined;
}

/** How many tokens a call took. */
export interface CompletionUsage {
  readonly promptTokens: number;
  /** Of all samples. */
  readonly completionTokens: number;
}

/** What came of a call: the first response, all responses, and what they took. */
export interface Completion extends CompletionChoice {
  /** All responses; the first one is also the completion itself. */
  readonly choices: readonly CompletionChoice[];
  readonly usage: CompletionUsage;
  readonly prompt: ModelInput;
}

/** What {@link Completer.stream} yields. `sample` counts the responses from 0. */
export type CompletionEvent =
  | (ResponseDelta & { readonly sample: number })
  /** The tokens of a piece, before the deltas they add. */
  | {
      readonly type: 'tokens';
      readonly sample: number;
      readonly tokens: Int32Array;
      readonly logprobs?: Float32Array | undefined;
      readonly topkLogprobs?: TopkLogprobs | undefined;
    }
  /** The last event. */
  | { readonly type: 'completion'; readonly completion: Completion };

/** Messages in, message out. */
export interface Completer {
  /** Samples a response to a conversation. Rejects with what the sampler rejects with, and with `AbortedError`. */
  (messages: readonly Message[], options?: CompletionOptions): Promise<Completion>;
  /**
   * The same, with what the response says while it is sampled, in pieces of `pieceTokens`. With a seed the response equals the unstreamed one where the server draws by
   * (seed, absolute position); of several samples each further one has a seed one higher. Leaving the loop samples no further piece.
   */
  stream(messages: readonly Message[], options?: CompletionOptions): AsyncGenerator<CompletionEvent, void, undefined>;
}

interface Call {
  readonly prompt: ModelInput;
  readonly samplingParams: SamplingParams;
  readonly rules: StopRules;
  readonly numSamples: number;
  readonly topLogprobs: number | undefined;
  readonly signal: AbortSignalLike | undefined;
}

/**
 * A function that answers conversations: renders the prompt, samples, and reads the response.
 *
 * @example
 * ```ts
 * import { createCompleter, type Renderer, type Sampler } from '@tinkex/renderers';
 *
 * export async function ask(sampler: Sampler, renderer: Renderer, question: string) {
 *   const complete = createCompleter({ sampler, renderer, samplingParams: { maxTokens: 256, temperature: 0.7 } });
 *   const { message, finishReason, usage } = await complete([{ role: 'user', content: question }]);
 *   return { text: message.content, finishReason, tokens: usage.completionTokens };
 * }
 * ```
 */
export function createCompleter(options: CompleterOptions): Completer {
  const { sampler, renderer, pieceTokens = DEFAULT_PIECE_TOKENS } = options;
  if (!Number.isSafeInteger(pieceTokens) || pieceTokens < 1) {
    throw new ConfigurationError({ option: 'pieceTokens', message: `pieceTokens must be a positive whole number, got ${pieceTokens}.` });
  }

  async function complete(messages: readonly Message[], callOptions: CompletionOptions = {}): Promise<Completion> {
    const { prompt, samplingParams, numSamples, topLogprobs, rules, signal } = prepare(options, messages, callOptions);
    throwIfAborted(signal);
    const input = { prompt, numSamples, samplingParams, ...(topLogprobs === undefined ? {} : { topkSampleLogprobs: topLogprobs }) };
    const { sequences } = await sampler.sample(input, signal === undefined ? {} : { signal });
    throwIfAborted(signal);
    const choices = sequences.map((sequence) => {
      const reader = new ResponseReader(renderer, rules);
      reader.push(sequence);
      return reader.finish().choice;
    });
    return completionOf(prompt, choices);
  }

  async function* stream(
    messages: readonly Message[],
    callOptions: CompletionOptions = {},
  ): AsyncGenerator<CompletionEvent, void, undefined> {
    const call = prepare(options, messages, callOptions);
    const choices: CompletionChoice[] = [];
    let running = Array.from({ length: call.numSamples }, (_, sample) => ({
      sample,
      reader: new ResponseReader(renderer, call.rules),
      pieces: piecesOf(call, sample),
    }));
    while (running.length > 0) {
      // One piece of each response at a time: nothing is under way while the caller handles an event.
      const round = await Promise.all(running.map(async (one) => ({ ...one, piece: (await one.pieces.next()).value as SampledPiece })));
      running = [];
      for (const { sample, reader, pieces, piece } of round) {
        const { tokens, logprobs, topkLogprobs } = piece;
        yield { type: 'tokens', sample, tokens, logprobs, topkLogprobs };
        yield* reader.push(piece).map((delta) => ({ ...delta, sample }));
        if (piece.stopReason === undefined && !reader.isStopped) running.push({ sample, reader, pieces });
        else {
          const { deltas, choice } = reader.finish();
          yield* deltas.map((delta) => ({ ...delta, sample }));
          choices[sample] = choice;
        }
      }
    }
    yield { type: 'completion', completion: completionOf(call.prompt, choices) };
  }

  function piecesOf({ prompt, samplingParams, topLogprobs, signal }: Call, sample: number): AsyncGenerator<SampledPiece, void, undefined> {
    const { seed } = samplingParams;
    const own = seed === undefined || sample === 0 ? samplingParams : { ...samplingParams, seed: BigInt(seed) + BigInt(sample) };
    return sampleInPieces({
      sampler,
      prompt,
      samplingParams: own,
      pieceTokens,
      topLogprobs,
      decode: (tokens) => renderer.tokenizer.decode(tokens),
      signal,
    });
  }

  return Object.assign(complete, { stream });
}

function prepare({ renderer, samplingParams: defaults }: CompleterOptions, messages: readonly Message[], options: CompletionOptions): Call {
  const { samplingParams: own, numSamples = 1, topLogprobs, signal, ...promptOptions } = options;
  const params = { ...defaults, ...own };
  const rules = joinStops(renderer.getStopSequences(), params.stop);
  return {
    prompt: renderer.buildGenerationPrompt(messages, promptOptions),
    samplingParams: { ...params, stop: rules.stop },
    rules,
    numSamples,
    topLogprobs,
    signal,
  };
}

function completionOf(prompt: ModelInput, choices: readonly CompletionChoice[]): Completion {
  const [first] = choices;
  if (first === undefined) throw new ConfigurationError({ option: 'sampler', message: 'The sampler returned no sequence.' });
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { ...first, choices, prompt, usage: { promptTokens: prompt.length, completionTokens } };
}
