import type { Message, Role } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import type { ResponseFormat } from '../parsing/response-format.js';
import type { MessageContext } from './message-context.js';
import type { Piece } from './pieces.js';
import type { TrainOnWhat } from './renderer.js';

/** A message as its template writes it. */
export interface RenderedMessage {
  /** What introduces the message. Trained on only with `all_tokens`. */
  readonly header?: readonly Piece[] | undefined;
  /** What its author writes, including the token that ends it. */
  readonly output: readonly Piece[];
  /** What ends the message but belongs to the header of the next one. Written only at the end of a training example. */
  readonly stopOverlap?: Piece | undefined;
}

/** The chat template of a model family, as data and small functions. Everything else about rendering is shared. */
export interface Grammar {
  /** Written once, in front of everything. Never trained on. */
  readonly bos?: Piece | undefined;
  readonly hasExtensionProperty: boolean;
  /** The template cannot express thinking, so training on a turn with thinking is refused. */
  readonly disablesThinking?: boolean | undefined;
  /** Changes a conversation before it is written, for example puts a default system message in front. */
  prepare?(messages: readonly Message[]): readonly Message[];
  renderMessage(message: Message, context: MessageContext): RenderedMessage;
  /** What the prompt ends with, so that `role` speaks next. Default: the header of an empty message. */
  renderSuffix?(role: Role, context: MessageContext): readonly Piece[];
  /** What the answer begins with, given what the caller wants it to begin with. Default: just that. */
  renderPrefill?(prefill: string, context: MessageContext): string;
  /** Index of the message with which the assistant's last turn begins. Default: after the last user message. */
  turnStart?(messages: readonly Message[]): number;
  /** How training differs from the usual rules. */
  readonly training?: TrainingRules | undefined;
  /** How a conversation becomes several examples. Default: one per assistant message where later turns rewrite earlier ones. */
  splitExamples?(messages: readonly Message[], trainOnWhat: TrainOnWhat): { messages: readonly Message[]; trainOnWhat: TrainOnWhat }[];
  /** Messages that declare tools. Default: the template has no tools. */
  declareTools?(tools: readonly ToolSpec[], systemPrompt: string): Message[];
  /** How responses are read. */
  readonly response: ResponseFormat;
  /** How a message looks to the model's Hugging Face template. */
  readonly openAI?: OpenAIFormat | undefined;
}

/** See {@link Grammar.training}. An example ends with the last message that is trained on; without one there is no example. */
export interface TrainingRules {
  /** The modes that make sense. The first is the default. */
  readonly modes: readonly [TrainOnWhat, ...TrainOnWhat[]];
  isTrained(message: Message, trainOnWhat: TrainOnWhat, context: MessageContext): boolean;
}

/** See {@link Grammar.openAI}. */
export interface OpenAIFormat {
  /** Thinking moves from the content to `reasoning_content`. */
  readonly hasReasoningContent: boolean;
  /** Content of others than the assistant must be a single text. */
  readonly requiresSingleText?: boolean | undefined;
  /** How arguments are passed. Default: as JSON text. */
  parseArguments?(text: string): unknown;
}
