import { ConfigurationError, type ModelInput } from '@tinkex/types';
import type { Message, Role } from '../messages/message.js';
import { toOpenAIMessage } from '../messages/openai-message.js';
import type { ToolSpec } from '../messages/tool.js';
import { BufferedStream, TokenStream } from '../parsing/response-stream.js';
import type { Grammar, RenderedMessage, TrainingRules } from './grammar.js';
import { checkTrainable, invalidMessages, isTrained } from './masks.js';
import { contextsOf, lastUserIndex, type MessageContext } from './message-context.js';
import { type EncodedPiece, encodePiece, joinPieces, type Piece, pieceLength } from './pieces.js';
import type {
  GenerationPromptOptions,
  ParsedResponse,
  Renderer,
  ResponseStream,
  StreamOptions,
  SupervisedExample,
  TrainOnWhat,
} from './renderer.js';
import type { RendererTokenizer } from './tokenizer.js';

/** A run of pieces with one weight. */
interface WeightedPieces {
  readonly pieces: readonly (Piece | undefined)[];
  readonly weight: number;
}

/** Renders by a family's {@link Grammar}. */
export class GrammarRenderer implements Renderer {
  readonly name: string;
  readonly tokenizer: RendererTokenizer;
  readonly #grammar: Grammar;

  constructor(name: string, tokenizer: RendererTokenizer, grammar: Grammar) {
    this.name = name;
    this.tokenizer = tokenizer;
    this.#grammar = grammar;
  }

  get hasExtensionProperty(): boolean {
    return this.#grammar.hasExtensionProperty;
  }

  get supportsStreaming(): boolean {
    return this.#grammar.response.stream !== undefined;
  }

  buildGenerationPrompt(
    messages: readonly Message[],
    { role = 'assistant', prefill = '', tools = [] }: GenerationPromptOptions = {},
  ): ModelInput {
    const given = tools.length === 0 ? messages : this.#withTools(messages, tools);
    const prepared = this.#prepare(given);
    const contextAt = contextsOf(prepared, this.#turnStart(prepared), given);
    const rendered = prepared.flatMap((message, index) => {
      const { header = [], output } = this.#renderMessage(message, contextAt(index));
      return [...header, ...output];
    });
    const next = contextAt(prepared.length);
    const suffix = this.#renderSuffix(role, next);
    const beginning = this.#grammar.renderPrefill?.(prefill, next) ?? prefill;
    return joinPieces(this.#encode([this.#grammar.bos, ...rendered, ...suffix, beginning]));
  }

  buildSupervisedExample(
    messages: readonly Message[],
    trainOnWhat: TrainOnWhat = this.#defaultMode('last_assistant_message'),
  ): SupervisedExample {
    const { training } = this.#grammar;
    const all = this.#prepare(messages);
    const prepared = training === undefined ? all : this.#untilLastTrained(training, all, trainOnWhat);
    if (training === undefined) checkTrainable(prepared, trainOnWhat);
    if (training !== undefined && prepared.length === 0) {
      throw invalidMessages('messages', 'have nothing to train on. Use buildSupervisedExamples, which gives no example then.');
    }
    // The message that is trained on always belongs to the last turn, also where it would end it.
    const contextAt = contextsOf(prepared, this.#turnStart(prepared.slice(0, -1)), messages);
    const parts: WeightedPieces[] = [{ pieces: [this.#grammar.bos], weight: 0 }];
    prepared.forEach((message, index) => {
      const context = contextAt(index);
      const { header = [], output, stopOverlap } = this.#renderMessage(message, context);
      parts.push({ pieces: header, weight: trainOnWhat === 'all_tokens' ? 1 : 0 });
      const isWeighed = training?.isTrained(message, trainOnWhat, context) ?? isTrained(trainOnWhat, message, context);
      parts.push({ pieces: context.isLast ? [...output, stopOverlap] : output, weight: isWeighed ? 1 : 0 });
    });
    const example = this.#join(parts);
    return training === undefined && isTurnMode(trainOnWhat) ? this.#maskPrompt(example, messages, prepared, trainOnWhat) : example;
  }

  buildSupervisedExamples(
    messages: readonly Message[],
    trainOnWhat: TrainOnWhat = this.#defaultMode('last_assistant_turn'),
  ): SupervisedExample[] {
    const examples = this.#grammar.splitExamples?.(messages, trainOnWhat) ?? this.#splitExamples(messages, trainOnWhat);
    return examples.map((example) => this.buildSupervisedExample(example.messages, example.trainOnWhat));
  }

  getStopSequences(): number[] | string[] {
    return this.#grammar.response.stopSequences();
  }

  parseResponse(tokens: ArrayLike<number>): ParsedResponse {
    return this.#grammar.response.parse(Array.from(tokens));
  }

  streamResponse(options: StreamOptions = {}): ResponseStream {
    const format = this.#grammar.response;
    return format.stream === undefined ? new BufferedStream(format) : new TokenStream(format.stream, this.tokenizer, options);
  }

  createConversationPrefixWithTools(tools: readonly ToolSpec[], systemPrompt = ''): Message[] {
    const prefix = this.#grammar.declareTools?.(tools, systemPrompt);
    if (prefix !== undefined) return prefix;
    throw new ConfigurationError({
      option: 'tools',
      message: `The template of renderer "${this.name}" has no tools. Choose another renderer, or no tools.`,
    });
  }

  toOpenAIMessage(message: Message): Readonly<Record<string, unknown>> {
    return toOpenAIMessage(message, this.#grammar.openAI);
  }

  #defaultMode(usual: TrainOnWhat): TrainOnWhat {
    return this.#grammar.training?.modes[0] ?? usual;
  }

  /** The messages up to the last that is trained on. */
  #untilLastTrained(training: TrainingRules, messages: readonly Message[], trainOnWhat: TrainOnWhat): readonly Message[] {
    if (!training.modes.includes(trainOnWhat)) {
      throw invalidMessages('trainOnWhat', `must be one of ${training.modes.join(', ')} for renderer "${this.name}"; got ${trainOnWhat}.`);
    }
    const contextAt = contextsOf(messages, 0, messages);
    const last = messages.findLastIndex((message, index) => training.isTrained(message, trainOnWhat, contextAt(index)));
    return messages.slice(0, last + 1);
  }

  #prepare(messages: readonly Message[]): readonly Message[] {
    return this.#grammar.prepare?.(messages) ?? messages;
  }

  #turnStart(messages: readonly Message[]): number {
    return this.#grammar.turnStart?.(messages) ?? lastUserIndex(messages) + 1;
  }

  #withTools(messages: readonly Message[], tools: readonly ToolSpec[]): readonly Message[] {
    const [first] = messages;
    const hasSystemPrompt = first?.role === 'system' && typeof first.content === 'string';
    const prefix = this.createConversationPrefixWithTools(tools, hasSystemPrompt ? (first.content as string) : '');
    return [...prefix, ...(hasSystemPrompt ? messages.slice(1) : messages)];
  }

  #renderMessage(message: Message, context: MessageContext): RenderedMessage {
    return this.#grammar.renderMessage(message, context);
  }

  #renderSuffix(role: Role, context: MessageContext): readonly Piece[] {
    return this.#grammar.renderSuffix?.(role, context) ?? this.#renderMessage({ role, content: '' }, context).header ?? [];
  }

  /** Examples of messages that later turns would render differently: each assistant message ends one example. */
  #splitExamples(messages: readonly Message[], trainOnWhat: TrainOnWhat): { messages: readonly Message[]; trainOnWhat: TrainOnWhat }[] {
    const { training } = this.#grammar;
    if (training !== undefined && this.#untilLastTrained(training, messages, trainOnWhat).length === 0) return [];
    if (this.hasExtensionProperty) return [{ messages, trainOnWhat }];
    if (!isTurnMode(trainOnWhat) && trainOnWhat !== 'all_assistant_messages') {
      throw invalidMessages(
        'trainOnWhat',
        `'${trainOnWhat}' cannot be split, and renderer "${this.name}" rewrites earlier turns. Use buildSupervisedExample, or train on assistant messages.`,
      );
    }
    const starts = {
      last_assistant_message: messages.length - 1,
      last_assistant_turn: this.#turnStart(messages),
      all_assistant_messages: 0,
    };
    return messages.flatMap((message, index) =>
      index >= starts[trainOnWhat] && message.role === 'assistant'
        ? [{ messages: messages.slice(0, index + 1), trainOnWhat: 'last_assistant_message' as const }]
        : [],
    );
  }

  #encode(pieces: readonly (Piece | undefined)[]): EncodedPiece[] {
    return pieces.flatMap((piece) => (piece === undefined ? [] : (encodePiece(piece, this.tokenizer) ?? [])));
  }

  #join(parts: readonly WeightedPieces[]): SupervisedExample {
    const encoded = parts.flatMap(({ pieces, weight }) => this.#encode(pieces).map((piece) => ({ piece, weight })));
    const weights = new Float32Array(encoded.reduce((sum, { piece }) => sum + pieceLength(piece), 0));
    let position = 0;
    for (const { piece, weight } of encoded) {
      const end = position + pieceLength(piece);
      // Where a template has its own rules, what the model did not write token by token is not trained on.
      weights.fill('chunk' in piece && this.#grammar.training !== undefined ? 0 : weight, position, end);
      position = end;
    }
    return { modelInput: joinPieces(encoded.map(({ piece }) => piece)), weights };
  }

  /** What the prompt already contains, such as an opening `<think>`, is not trained on. */
  #maskPrompt(
    example: SupervisedExample,
    given: readonly Message[],
    prepared: readonly Message[],
    trainOnWhat: TurnMode,
  ): SupervisedExample {
    const boundary = trainOnWhat === 'last_assistant_message' ? prepared.length - 1 : lastUserIndex(prepared) + 1;
    const tokens = textTokens(example.modelInput);
    if (prepared[boundary]?.role !== 'assistant' || tokens === undefined) return example;
    // Templates add and remove messages only at the beginning.
    const place = boundary + given.length - prepared.length;
    const prompt = textTokens(this.buildGenerationPrompt(given.slice(0, place))) ?? new Int32Array();
    if (prompt.every((token, index) => token === tokens[index])) return { ...example, weights: example.weights.fill(0, 0, prompt.length) };
    if (this.#grammar.disablesThinking !== true) return example;
    throw invalidMessages(
      `messages[${place}].content`,
      `contains thinking, which renderer "${this.name}" leaves out of prompts. Remove it, or use the renderer with thinking.`,
    );
  }
}

type TurnMode = 'last_assistant_message' | 'last_assistant_turn';

function isTurnMode(trainOnWhat: TrainOnWhat): trainOnWhat is TurnMode {
  return trainOnWhat === 'last_assistant_message' || trainOnWhat === 'last_assistant_turn';
}

/** The tokens of an input without images. */
function textTokens(input: ModelInput): Int32Array | undefined {
  return input.chunks.every(({ type }) => type === 'encoded_text') ? input.toInts() : undefined;
}
