import type { Grammar, RenderedMessage } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import { textOf, thinkingOf } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { requireText } from './content-rules.js';
import type { Family } from './family.js';
import { declareForHarmony } from './gpt-oss-declarations.js';
import { harmonyResponse } from './gpt-oss-response.js';

/** The role of messages that the template itself writes as `system`. What users call system becomes `developer`. */
const INTERNAL_SYSTEM = '_gptoss_internal_system';
const CONTINUE = '<|start|>assistant';
const SYSTEM_PROMPT = (date: string, effort: string) => `You are ChatGPT, a large language model trained by OpenAI.
Knowledge cutoff: 2024-06
Current date: ${date}

Reasoning: ${effort}

# Valid channels: analysis, commentary, final. Channel must be included for every message.`;

/**
 * gpt-oss: the Harmony format. Thinking, tool calls and answers are messages on different channels.
 *
 *     <|start|>user<|message|>Question<|end|>
 *     <|start|>assistant<|channel|>analysis<|message|>Thinking<|end|>
 *     <|start|>assistant to=functions.search<|channel|>commentary <|constrain|>json<|message|>{"query": "x"}<|call|>
 *     <|start|>functions.search to=assistant<|channel|>commentary<|message|>Result<|end|>
 *     <|start|>assistant<|channel|>final<|message|>Answer<|return|>
 *
 * (without the line breaks)
 */
export function gptOss(effort?: 'low' | 'medium' | 'high'): Family {
  return ({ tokenizer, options }): Grammar => ({
    hasExtensionProperty: false,
    ...(effort === undefined ? {} : { prepare: (messages) => [systemPrompt(effort, options.currentDate), ...messages] }),
    renderMessage(message, context) {
      switch (message.role) {
        case 'assistant':
          return { header: [CONTINUE], output: [writeTurn(message, context)] };
        case 'tool':
          return renderToolResult(message, context);
        case 'system':
          return { header: ['<|start|>developer'], output: [`<|message|># Instructions\n\n${requireText(message, context)}\n\n<|end|>`] };
        case INTERNAL_SYSTEM:
          return { header: ['<|start|>system'], output: [`<|message|>${requireText(message, context)}<|end|>`] };
        default:
          return { header: [`<|start|>${message.role}`], output: [`<|message|>${requireText(message, context)}<|end|>`] };
      }
    },
    declareTools,
    response: harmonyResponse(tokenizer),
    openAI: { hasReasoningContent: true },
  });
}

function systemPrompt(effort: string, date = new Date().toISOString().slice(0, 10)): Message {
  return { role: INTERNAL_SYSTEM, content: SYSTEM_PROMPT(date, effort) };
}

/** Thinking on the analysis channel, then the answer, or a preamble for the user and the calls. */
function writeTurn({ content, toolCalls = [] }: Message, { isLast }: MessageContext): string {
  const [thinking, text] = [thinkingOf(content), textOf(content)];
  const analysis = thinking === '' ? '' : `<|channel|>analysis<|message|>${thinking}<|end|>${CONTINUE}`;
  if (toolCalls.length === 0) return `${analysis}<|channel|>final<|message|>${text}${isLast ? '<|return|>' : '<|end|>'}`;
  const preamble = text === '' ? '' : `<|channel|>commentary<|message|>${text}<|end|>${CONTINUE}`;
  const calls = toolCalls.map(
    ({ function: { name, arguments: args } }) => ` to=functions.${name}<|channel|>commentary <|constrain|>json<|message|>${args}<|call|>`,
  );
  return `${analysis}${preamble}${calls.join(CONTINUE)}`;
}

function renderToolResult(message: Message, context: MessageContext): RenderedMessage {
  const name = message.name || 'unknown';
  return {
    header: [`<|start|>${name.startsWith('functions.') ? name : `functions.${name}`} to=assistant`],
    output: [`<|channel|>commentary<|message|>${requireText(message, context)}<|end|>`],
  };
}

function declareTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const routing: Message = { role: INTERNAL_SYSTEM, content: "Calls to these tools must go to the commentary channel: 'functions'." };
  const sections = [
    ...(systemPrompt === '' ? [] : [`# Instructions\n\n${systemPrompt}`]),
    ...(tools.length === 0
      ? []
      : [`# Tools\n\n## functions\n\nnamespace functions {\n\n${declareForHarmony(tools)}\n\n} // namespace functions`]),
  ];
  return [
    ...(tools.length === 0 ? [] : [routing]),
    ...(sections.length === 0 ? [] : [{ role: 'developer', content: sections.join('\n\n') }]),
  ];
}
