import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { dumpJson } from '../core/python-json.js';
import type { Message, ToolCall } from '../messages/message.js';
import { parseContentBlocks, unframeThinking } from '../parsing/blocks.js';
import type { ParsedText, ToolMarkers } from '../parsing/response-format.js';
import { findUnterminated } from '../parsing/tool-calls.js';
import { loadArguments } from './content-rules.js';

/** The tags around a tool call, in all ChatML families. */
export const TOOL_CALL: ToolMarkers = { open: '<tool_call>', close: '</tool_call>' };
/** What ends a message. */
export const IM_END = '<|im_end|>';

/** `<|im_start|>role`, on a new line unless it is the first. */
export function openTurn(role: string, index: number): string {
  return `${index > 0 ? '\n' : ''}<|im_start|>${role}\n`;
}

/** As {@link openTurn}, for a message: a tool's answer comes from the user. */
export function chatmlHeader(role: string, index: number): string {
  return openTurn(role === 'tool' ? 'user' : role, index);
}

/** Calls as JSON in `<tool_call>` tags, one after the other. */
export function writeJsonCalls({ toolCalls = [] }: Message, context: MessageContext): string {
  return toolCalls.map((call) => `<tool_call>\n${writeJsonCall(call, context)}\n</tool_call>`).join('\n');
}

function writeJsonCall(call: ToolCall, context: MessageContext): string {
  return `{"name": ${dumpJson(call.function.name)}, "arguments": ${dumpJson(loadArguments(call, context))}}`;
}

/** Joins neighboring texts, so that each run of text is encoded as one piece. */
export function mergeTexts(pieces: readonly Piece[]): Piece[] {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece;
    else merged.push(piece);
  }
  return merged;
}

/** Reads `<think>` and `<tool_call>` blocks. */
export function parseChatmlText(text: string, { isFramed }: { readonly isFramed: boolean }): ParsedText {
  const blocks = parseContentBlocks(text);
  const unterminated = findUnterminated(text, TOOL_CALL);
  const { parts, toolCalls, unparsedToolCalls } = blocks ?? { parts: undefined, toolCalls: [], unparsedToolCalls: [] };
  return {
    content: parts === undefined ? text : isFramed ? unframeThinking(parts) : parts,
    toolCalls,
    unparsedToolCalls: unterminated === undefined ? unparsedToolCalls : [...unparsedToolCalls, unterminated],
  };
}
