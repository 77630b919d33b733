import type { OpenAIFormat } from '../core/grammar.js';
import { invalidMessages } from '../core/masks.js';
import { hasThinkingPart, singleText, textOf, thinkingOf } from './content.js';
import type { Content, Message, ToolCall } from './message.js';

/** A message as a model's Hugging Face template takes it. */
export function toOpenAIMessage(message: Message, format: OpenAIFormat | undefined): Readonly<Record<string, unknown>> {
  const { role, content, toolCalls = [], toolCallId, name } = message;
  if (format?.requiresSingleText === true && role !== 'assistant' && singleText(content) === undefined) {
    throw invalidMessages('content', 'must be text or a single text part for this template.');
  }
  return {
    role,
    ...(format?.hasReasoningContent === true ? separateThinking(content) : { content: joinContent(content) }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map((call) => toOpenAICall(call, format)) }),
    ...(role === 'tool' && toolCallId !== undefined ? { tool_call_id: toolCallId } : {}),
    ...(role === 'tool' && name !== undefined ? { name } : {}),
  };
}

function toOpenAICall({ type, id, function: { name, arguments: args } }: ToolCall, format: OpenAIFormat | undefined) {
  return { type, id: id ?? null, function: { name, arguments: format?.parseArguments?.(args) ?? args } };
}

function separateThinking(content: Content): Record<string, string> {
  return { content: textOf(content), ...(hasThinkingPart(content) ? { reasoning_content: thinkingOf(content) } : {}) };
}

function joinContent(content: Content): string {
  if (typeof content === 'string') return content;
  return content
    .map((part, index) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'thinking') return `<think>${part.thinking}</think>`;
      throw invalidMessages(`content[${index}]`, `is ${part.type}, which this template cannot write as text.`);
    })
    .join('');
}
