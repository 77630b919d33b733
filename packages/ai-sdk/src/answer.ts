import type {
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import { contentText, thinkingText } from '@tinkex/gateway/generation';
import type { Completion, ToolCall } from '@tinkex/renderers';

const FINISH_REASONS = { stop: 'stop', length: 'length', tool_calls: 'tool-calls' } as const;

/** The parts of a whole answer. */
export function contentOf({ message }: Completion, createId: () => string): LanguageModelV3Content[] {
  const [reasoning, text] = [thinkingText(message), contentText(message)];
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(message.toolCalls ?? []).map((call) => toolCallPart(call, createId)),
  ];
}

/** A tool call of the model. */
export function toolCallPart({ id, function: called }: ToolCall, createId: () => string): LanguageModelV3ToolCall {
  return { type: 'tool-call', toolCallId: id ?? createId(), toolName: called.name, input: called.arguments };
}

/** Why the answer ended. */
export function finishReasonOf({ finishReason }: Completion): LanguageModelV3FinishReason {
  return { unified: FINISH_REASONS[finishReason], raw: finishReason };
}

/** The tokens of the call. The server does not say which of them were thinking. */
export function usageOf({ usage: { promptTokens, completionTokens } }: Completion): LanguageModelV3Usage {
  return {
    inputTokens: { total: promptTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: completionTokens, text: undefined, reasoning: undefined },
  };
}

/** What only this provider knows about an answer. */
export function metadataOf({ sequenceIds, tokens, logprobs }: Completion, returnTokens: boolean): SharedV3ProviderMetadata {
  const sampled = returnTokens ? { tokens: Array.from(tokens), ...(logprobs === undefined ? {} : { logprobs: Array.from(logprobs) }) } : {};
  return { tinkex: { sequenceIds: [...sequenceIds], ...sampled } };
}
