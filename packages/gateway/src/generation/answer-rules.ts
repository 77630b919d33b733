import type { CompletionChoice } from '@tinkex/renderers';
import type { GenerationRequest } from './generation-request.js';
import { contentText } from './message-text.js';

/** Says why an answer is not what the request asks for; undefined if it is. */
export type AnswerRule = (choice: CompletionChoice) => string | undefined;

/** The rule that answers must follow, or undefined if any answer will do. */
export function answerRuleOf({
  toolChoice,
  tools = [],
  hasParallelToolCalls = true,
  checkText,
}: GenerationRequest): AnswerRule | undefined {
  const mustCall = toolChoice === 'required' || typeof toolChoice === 'object';
  const mayCallOnce = !hasParallelToolCalls && tools.length > 0 && toolChoice !== 'none';
  if (!mustCall && !mayCallOnce && checkText === undefined) return undefined;
  const name = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  const known = new Set(name === undefined ? tools.map((tool) => tool.name) : [name]);
  return ({ message }) => {
    const { toolCalls = [] } = message;
    if (mayCallOnce && toolCalls.length > 1) return `it calls ${toolCalls.length} tools, and parallel tool calls are turned off`;
    if (mustCall) {
      if (toolCalls.length === 0) return 'it calls no tool';
      const unknown = toolCalls.find((call) => !known.has(call.function.name));
      return unknown === undefined ? undefined : `it calls ${unknown.function.name}`;
    }
    // An answer that calls a tool is not the final one: its text is free.
    return toolCalls.length > 0 ? undefined : checkText?.(contentText(message));
  };
}
