import type { ModelInput } from '@tinkex/types';
import type { Message, Role, ToolCall } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import type { RendererTokenizer } from './tokenizer.js';

/**
 * Which tokens of a conversation are trained on.
 *
 * - `last_assistant_message`: the last message, if it is the assistant's
 * - `last_assistant_turn`: what the assistant wrote since the last user message
 * - `all_assistant_messages`, `all_user_and_system_messages`, `all_messages`: what these wrote, without the headers of their messages
 * - `all_tokens`: everything but the token that begins a text
 * - `customized`: the messages with `trainable: true`
 */
export type TrainOnWhat =
  | 'last_assistant_message'
  | 'last_assistant_turn'
  | 'all_assistant_messages'
  | 'all_messages'
  | 'all_tokens'
  | 'all_user_and_system_messages'
  | 'customized';

/**
 * How a response ended: with a stop sequence, with the end of the text, or neither (it was cut, or its structure is broken). Of a `malformed` response
 * the content is the complete text.
 */
export type Termination = 'stop_sequence' | 'eos' | 'malformed';

/** A response as a message. */
export interface ParsedResponse {
  readonly message: Message;
  readonly termination: Termination;
}

/** Tokens to train on, with one weight per position. */
export interface SupervisedExample {
  readonly modelInput: ModelInput;
  readonly weights: Float32Array;
}

/** Options of {@link Renderer.buildGenerationPrompt}. */
export interface GenerationPromptOptions {
  /** Who speaks next. Default `assistant`. */
  readonly role?: Role | undefined;
  /** How the answer begins. Default: empty. */
  readonly prefill?: string | undefined;
  /** Tools the model may call, declared as the template wants it; a leading system message becomes their system prompt. Default: none. */
  readonly tools?: readonly ToolSpec[] | undefined;
}

/** A piece of a response while it arrives. `contentIndex` counts the blocks: text, thinking, text, … */
export type ResponseDelta =
  | { readonly type: 'header'; readonly role: Role }
  | { readonly type: 'text'; readonly text: string; readonly contentIndex: number }
  | { readonly type: 'thinking'; readonly thinking: string; readonly contentIndex: number }
  | { readonly type: 'toolCall'; readonly toolCall: ToolCall };

/** The last deltas of a response, and the whole of it. */
export interface FinishedResponse extends ParsedResponse {
  readonly deltas: readonly ResponseDelta[];
}

/** Options of {@link Renderer.streamResponse}. */
export interface StreamOptions {
  /** Whether the prompt already opened the thinking block. Default: whether the renderer's own prompts do. */
  readonly thinkingPrefilled?: boolean | undefined;
  /** Whether tool calls arrive parsed, as `toolCall` deltas when the response is finished, or as the text the model wrote. Default `parsed`. */
  readonly toolCalls?: 'parsed' | 'text' | undefined;
}

/** Reads a response token by token. */
export interface ResponseStream {
  /** What these tokens add. Never splits a character: incomplete UTF-8 waits for its rest. Tokens after the stop token are ignored. */
  push(tokens: ArrayLike<number>): ResponseDelta[];
  /** Ends the response: what was held back, and the complete message. */
  finish(): FinishedResponse;
}

/** Turns conversations into tokens and tokens into messages, as one model family expects them. */
export interface Renderer {
  readonly name: string;
  readonly tokenizer: RendererTokenizer;
  /** Whether the prompt of a later turn starts with the tokens of the earlier ones, so that one example can train several turns. */
  readonly hasExtensionProperty: boolean;
  /** Whether text and thinking arrive while the response does. Otherwise {@link Renderer.streamResponse} gives everything when it is finished. */
  readonly supportsStreaming: boolean;
  /** The prompt after which the model writes the next message. */
  buildGenerationPrompt(messages: readonly Message[], options?: GenerationPromptOptions): ModelInput;
  /** All messages as one example. Default: train on the last assistant message. */
  buildSupervisedExample(messages: readonly Message[], trainOnWhat?: TrainOnWhat): SupervisedExample;
  /** As many examples as it takes when later turns rewrite earlier ones. Default: train on the last assistant turn. */
  buildSupervisedExamples(messages: readonly Message[], trainOnWhat?: TrainOnWhat): SupervisedExample[];
  /** What ends a response: token ids, or for base models texts. */
  getStopSequences(): number[] | string[];
  /** Reads a complete response. Throws only for tokens that cannot come from sampling with {@link Renderer.getStopSequences}: two stop tokens. */
  parseResponse(tokens: ArrayLike<number>): ParsedResponse;
  /** Reads a response while it arrives. */
  streamResponse(options?: StreamOptions): ResponseStream;
  /** Messages that declare tools, to put in front of a conversation. Throws a `ConfigurationError` where the template has no tools. */
  createConversationPrefixWithTools(tools: readonly ToolSpec[], systemPrompt?: string): Message[];
  /** A message as the model's Hugging Face template and OpenAI-style servers take it. */
  toOpenAIMessage(message: Message): Readonly<Record<string, unknown>>;
}
