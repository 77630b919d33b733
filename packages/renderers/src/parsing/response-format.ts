import type { ParsedResponse, ResponseDelta } from '../core/renderer.js';
import type { Content, ToolCall, UnparsedToolCall } from '../messages/message.js';

/** How a family's responses are read. */
export interface ResponseFormat {
  stopSequences(): number[] | string[];
  /** Reads a complete response. */
  parse(tokens: readonly number[]): ParsedResponse;
  /** How it is read while it arrives. Absent where only a complete response makes sense. */
  readonly stream?: StreamFormat | undefined;
}

/** See {@link ResponseFormat.stream}. */
export interface StreamFormat {
  readonly stopTokens: readonly number[];
  /** Ends a response whose last token it is; anywhere else it is text. Default: none does. */
  readonly finalToken?: number | undefined;
  /** Whether the renderer's prompts end inside a thinking block. */
  readonly opensThinking: boolean;
  /** What opens a thinking block, as the prompt writes it. */
  readonly openingTokens: readonly number[];
  /** Separates text, thinking and tool calls. Tool calls are left out, or shown as text. */
  createReader(showsCalls: boolean): DeltaReader;
  /** Reads what arrived, also when it was cut. */
  parsePartial(tokens: readonly number[]): ParsedResponse;
}

/** Turns the text of a response into deltas while it arrives. */
export interface DeltaReader {
  push(text: string): ResponseDelta[];
  /** What was held back. */
  finish(): ResponseDelta[];
}

/** The texts around a tool call, or around all tool calls of a message. */
export interface ToolMarkers {
  readonly open: string;
  readonly close: string;
}

/** What the text of a response says. */
export interface ParsedText {
  readonly content: Content;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly unparsedToolCalls?: readonly UnparsedToolCall[] | undefined;
}
