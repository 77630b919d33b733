import { ConfigurationError, ModelInput } from '@tinkex/types';
import { checkTrainable, invalidMessages, isTrained } from '../core/masks.js';
import type {
  GenerationPromptOptions,
  ParsedResponse,
  Renderer,
  ResponseStream,
  StreamOptions,
  SupervisedExample,
  TrainOnWhat,
} from '../core/renderer.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { parseChatmlText, TOOL_CALL } from '../families/chatml.js';
import type { Message } from '../messages/message.js';
import { toOpenAIMessage } from '../messages/openai-message.js';
import type { ToolSpec } from '../messages/tool.js';
import type { ResponseFormat } from '../parsing/response-format.js';
import { TokenStream } from '../parsing/response-stream.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { ChatTemplate } from './chat-template.js';
import { findTrainedSpans, type TrainedSpan } from './template-spans.js';

/** Options of {@link templateRenderer}. */
export interface TemplateRendererOptions {
  /** The Jinja source: `chat_template` of the model's `tokenizer_config.json`. */
  readonly chatTemplate: string;
  readonly tokenizer: RendererTokenizer;
  /** Tokens that end a response, such as `<|im_end|>`. Default: the tokenizer's end of text. */
  readonly stopTokens?: readonly string[] | undefined;
  /** Tools that every conversation declares. The tools of a single prompt replace them. */
  readonly tools?: readonly ToolSpec[] | undefined;
  /** More variables for the template, such as `{ enable_thinking: false }`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** Default `template`. */
  readonly name?: string | undefined;
}

/**
 * A renderer for any model with a chat template, through `@huggingface/jinja`. Prefer `getRenderer` where it knows the model: a template says how prompts are
 * written, not how responses are read or what is trained on.
 *
 * - Prompts are what `apply_chat_template` gives: special tokens in the text of a message become special tokens.
 * - Masks come from comparing the rendered text with that of shorter conversations; where a template rewrites earlier messages the call throws a `ValidationError`.
 *   Only assistant messages can be trained on, or `all_tokens`.
 * - Responses are read as text with `<think>` and `<tool_call>` blocks.
 *
 * @example
 * ```ts
 * import { bpeTokenizer, type TokenizerJson } from '@tinkex/renderers';
 * import { templateRenderer } from '@tinkex/renderers/templates';
 *
 * export function rendererOf(tokenizerJson: TokenizerJson, config: { chat_template: string; eos_token: string }) {
 *   return templateRenderer({ chatTemplate: config.chat_template, tokenizer: bpeTokenizer(tokenizerJson, config) });
 * }
 * ```
 */
export function templateRenderer(options: TemplateRendererOptions): Renderer {
  return new TemplateRenderer(options);
}

class TemplateRenderer implements Renderer {
  readonly name: string;
  readonly tokenizer: RendererTokenizer;
  /** A template does not say. */
  readonly hasExtensionProperty = false;
  readonly supportsStreaming = true;
  readonly #template: ChatTemplate;
  readonly #tools: readonly ToolSpec[];
  readonly #format: ResponseFormat;

  constructor({ chatTemplate, tokenizer, stopTokens, tools = [], variables = {}, name = 'template' }: TemplateRendererOptions) {
    this.name = name;
    this.tokenizer = tokenizer;
    this.#tools = tools;
    const [bosToken, eosToken] = [tokenizer.bosTokenId, tokenizer.eosTokenId].map((id) => (id === undefined ? '' : tokenizer.decode([id])));
    this.#template = new ChatTemplate(chatTemplate, { bos_token: bosToken, eos_token: eosToken, ...variables });
    const stops = stopTokens ?? (eosToken ? [eosToken] : []);
    if (stops.length === 0) {
      throw new ConfigurationError({
        option: 'stopTokens',
        message: 'The tokenizer has no end of text. Name the tokens that end a response in stopTokens.',
      });
    }
    this.#format = stopTokenFormat({
      tokenizer,
      stops: Object.fromEntries(stops.map((token) => [token, 'stop_sequence'])),
      toolMarkers: [TOOL_CALL],
      parseText: (text) => parseChatmlText(text, { isFramed: false }),
    });
  }

  buildGenerationPrompt(
    messages: readonly Message[],
    { role = 'assistant', prefill = '', tools }: GenerationPromptOptions = {},
  ): ModelInput {
    if (role !== 'assistant') {
      throw new ConfigurationError({
        option: 'role',
        message: `A chat template writes prompts for the assistant only, not for the role ${role}.`,
      });
    }
    const text = this.#render(messages, true, tools);
    return ModelInput.fromInts([...this.#encode(text), ...this.#encode(prefill)]);
  }

  buildSupervisedExample(messages: readonly Message[], trainOnWhat: TrainOnWhat = 'last_assistant_message'): SupervisedExample {
    checkTrainable(messages, trainOnWhat);
    const text = this.#render(messages, false);
    if (trainOnWhat === 'all_tokens') return this.#trainOnAll(text);
    const trained = trainedIndices(messages, trainOnWhat);
    const spans = findTrainedSpans(text, trained, messages.length, (count, { addGenerationPrompt }) =>
      this.#render(messages.slice(0, count), addGenerationPrompt),
    );
    return this.#mask(text, spans);
  }

  buildSupervisedExamples(messages: readonly Message[], trainOnWhat: TrainOnWhat = 'last_assistant_turn'): SupervisedExample[] {
    if (trainOnWhat === 'all_tokens' || trainOnWhat === 'customized') {
      throw invalidMessages('trainOnWhat', `'${trainOnWhat}' cannot be split into one example per answer. Use buildSupervisedExample.`);
    }
    checkTrainable(messages, trainOnWhat);
    return trainedIndices(messages, trainOnWhat).map((index) => this.buildSupervisedExample(messages.slice(0, index + 1)));
  }

  getStopSequences(): number[] | string[] {
    return this.#format.stopSequences();
  }

  parseResponse(tokens: ArrayLike<number>): ParsedResponse {
    return this.#format.parse(Array.from(tokens));
  }

  streamResponse(options: StreamOptions = {}): ResponseStream {
    return new TokenStream(this.#format.stream as NonNullable<ResponseFormat['stream']>, this.tokenizer, options);
  }

  createConversationPrefixWithTools(): Message[] {
    const message = 'A chat template declares tools itself. Pass them to buildGenerationPrompt, or to templateRenderer for training.';
    throw new ConfigurationError({ option: 'tools', message });
  }

  toOpenAIMessage(message: Message): Readonly<Record<string, unknown>> {
    return toOpenAIMessage(message, { hasReasoningContent: true, parseArguments: (text) => JSON.parse(text) as unknown });
  }

  #render(messages: readonly Message[], addGenerationPrompt: boolean, tools = this.#tools): string {
    messages.forEach(({ content }, index) => {
      const other = typeof content === 'string' ? undefined : content.find(({ type }) => type !== 'text' && type !== 'thinking');
      if (other !== undefined)
        throw invalidMessages(`messages[${index}].content`, `has a part of type ${other.type}. A chat template writes text only.`);
    });
    return this.#template.render(
      messages.map((message) => this.toOpenAIMessage(message)),
      { tools, addGenerationPrompt },
    );
  }

  #encode(text: string): number[] {
    return text === '' ? [] : Array.from(this.tokenizer.encode(text));
  }

  #trainOnAll(text: string): SupervisedExample {
    const tokens = this.#encode(text);
    return {
      modelInput: ModelInput.fromInts(tokens),
      weights: Float32Array.from(tokens, (token) => (token === this.tokenizer.bosTokenId ? 0 : 1)),
    };
  }

  /**
   * Each span is encoded by itself, because the model writes its tokens after the prompt was encoded. What follows the stop token it does not write: it is not trained on,
   * and left out at the end.
   */
  #mask(text: string, spans: readonly TrainedSpan[]): SupervisedExample {
    const stops = new Set<number | string>(this.getStopSequences());
    const tokens: number[] = [];
    const weights: number[] = [];
    let done = 0;
    for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
      for (const token of this.#encode(text.slice(done, start))) {
        tokens.push(token);
        weights.push(0);
      }
      const span = this.#encode(text.slice(start, end));
      const stop = span.findLastIndex((token) => stops.has(token));
      const written = stop >= 0 && end === text.length ? span.slice(0, stop + 1) : span;
      written.forEach((token, index) => {
        tokens.push(token);
        weights.push(stop < 0 || index <= stop ? 1 : 0);
      });
      done = end;
    }
    return { modelInput: ModelInput.fromInts(tokens), weights: Float32Array.from(weights) };
  }
}

function trainedIndices(messages: readonly Message[], trainOnWhat: TrainOnWhat): number[] {
  const turnStart = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const indices = messages.flatMap((message, index) =>
    isTrained(trainOnWhat, message, { isLast: index === messages.length - 1, isInLastTurn: index >= turnStart }) ? [index] : [],
  );
  const other = indices.find((index) => messages[index]?.role !== 'assistant');
  if (other === undefined) return indices;
  throw invalidMessages(
    `messages[${other}]`,
    `is not from the assistant. A chat template does not show where the header of such a message ends, so '${trainOnWhat}' cannot be masked; train on assistant messages or 'all_tokens'.`,
  );
}
