import {
  type Completer,
  type Completion,
  type CompletionChoice,
  type CompletionEvent,
  createCompleter,
  type Renderer,
} from '@tinkex/renderers';
import type { ModelInput, SamplingParams } from '@tinkex/types';
import { GatewayFailure } from '../failure.js';
import { type GatewayModel, rendererOf } from '../models/gateway-model.js';
import { type AnswerRule, answerRuleOf } from './answer-rules.js';
import type { GenerationRequest } from './generation-request.js';
import { contentText, thinkingText } from './message-text.js';
import { definedOnly } from './sampling-params.js';
import { ThinkingFrame } from './thinking-frame.js';

/** Limits of all generations. */
export interface GenerationLimits {
  /** How many tokens an answer may have when the request does not say. */
  readonly defaultMaxTokens: number;
  /** How many tokens are sampled before they are streamed. */
  readonly pieceTokens: number;
  /** How often an answer is sampled that must call a tool or fit a schema. */
  readonly maxAttempts: number;
}

/** One request on its way through a model: its prompt is known, and fits. */
export class Generation {
  readonly renderer: Renderer;
  readonly prompt: ModelInput;
  readonly promptTokens: number;
  readonly #request: GenerationRequest;
  readonly #limits: GenerationLimits;
  readonly #complete: Completer;
  readonly #samplingParams: SamplingParams;
  readonly #signal: AbortSignal;
  readonly #rule: AnswerRule | undefined;

  constructor(model: GatewayModel, request: GenerationRequest, limits: GenerationLimits, signal: AbortSignal) {
    this.#request = request;
    this.#limits = limits;
    this.#signal = signal;
    this.#rule = answerRuleOf(request);
    this.renderer = rendererOf(model, request.effort);
    this.prompt = this.renderer.buildGenerationPrompt(request.messages, this.#promptOptions);
    this.promptTokens = this.prompt.length;
    const params = { ...model.samplingParams, ...definedOnly(request.samplingParams) };
    this.#samplingParams = { ...params, maxTokens: this.#maxTokens(params.maxTokens, model.contextLength) };
    this.#complete = createCompleter({ sampler: model.sampler, renderer: this.renderer, pieceTokens: limits.pieceTokens });
  }

  /** The whole answer. */
  async complete(): Promise<Completion> {
    if (this.#rule === undefined) return this.#sample(this.#request.numSamples, 0);
    const accepted: CompletionChoice[] = [];
    let completionTokens = 0;
    let problem = '';
    for (let attempt = 0; attempt < this.#limits.maxAttempts; attempt += 1) {
      const { choices, usage } = await this.#sample(this.#request.numSamples - accepted.length, attempt);
      completionTokens += usage.completionTokens;
      for (const choice of choices) {
        const found = this.#rule(choice);
        if (found === undefined) accepted.push(choice);
        else problem = found;
      }
      const [first] = accepted;
      if (accepted.length === this.#request.numSamples && first !== undefined) {
        return { ...first, choices: accepted, prompt: this.prompt, usage: { promptTokens: this.promptTokens, completionTokens } };
      }
    }
    const times = `${this.#limits.maxAttempts} attempts`;
    throw new GatewayFailure(
      'server',
      `The model gave no answer of the requested form in ${times}: ${problem}. Train it on such answers, or ask again.`,
    );
  }

  /** The answer as it is sampled. One that must follow a rule arrives whole: only then is it known to. */
  async *stream(): AsyncGenerator<CompletionEvent, void, undefined> {
    const { messages, numSamples } = this.#request;
    if (this.#rule !== undefined) yield* replay(await this.complete());
    else yield* unframed(this.#complete.stream(messages, this.#callOptions(numSamples, 0)));
  }

  #sample(numSamples: number, attempt: number): Promise<Completion> {
    return this.#complete(this.#request.messages, this.#callOptions(numSamples, attempt));
  }

  #callOptions(numSamples: number, attempt: number) {
    const { seed } = this.#samplingParams;
    // The same seed would give the same answer again.
    const samplingParams =
      seed === undefined || attempt === 0 ? this.#samplingParams : { ...this.#samplingParams, seed: BigInt(seed) + BigInt(attempt) };
    const { topLogprobs } = this.#request;
    return { ...this.#promptOptions, samplingParams, numSamples, topLogprobs, signal: this.#signal };
  }

  get #promptOptions() {
    const { prefill, tools = [], toolChoice } = this.#request;
    return { prefill, ...(tools.length === 0 || toolChoice === 'none' ? {} : { tools }) };
  }

  #maxTokens(wanted: number | undefined, contextLength: number | undefined): number {
    if (contextLength === undefined) return wanted ?? this.#limits.defaultMaxTokens;
    const room = contextLength - this.promptTokens;
    if (room < 1 || (wanted !== undefined && wanted > room)) {
      const asked = `${this.promptTokens} tokens of prompt${wanted === undefined ? '' : ` and ${wanted} of answer`}`;
      throw new GatewayFailure(
        'context_length',
        `This model's maximum context length is ${contextLength} tokens, but the request asks for ${asked}.`,
        {
          param: 'messages',
        },
      );
    }
    return wanted ?? Math.min(room, this.#limits.defaultMaxTokens);
  }
}

async function* unframed(events: AsyncGenerator<CompletionEvent, void, undefined>): AsyncGenerator<CompletionEvent, void, undefined> {
  const frames = new Map<number, ThinkingFrame>();
  for await (const event of events) {
    if (event.type !== 'text' && event.type !== 'thinking') {
      yield event;
      continue;
    }
    const frame = frames.get(event.sample) ?? new ThinkingFrame();
    frames.set(event.sample, frame);
    const said = frame.push(event);
    if (said !== undefined) yield said;
  }
}

/** A finished completion as the events of a stream. */
function* replay(completion: Completion): Generator<CompletionEvent, void, undefined> {
  for (const [sample, { message, tokens, logprobs, topkLogprobs }] of completion.choices.entries()) {
    yield { type: 'tokens', sample, tokens, logprobs, topkLogprobs };
    const thinking = thinkingText(message);
    if (thinking !== '') yield { type: 'thinking', sample, thinking, contentIndex: 0 };
    const text = contentText(message);
    if (text !== '') yield { type: 'text', sample, text, contentIndex: 1 };
    for (const toolCall of message.toolCalls ?? []) yield { type: 'toolCall', sample, toolCall };
  }
  yield { type: 'completion', completion };
}
