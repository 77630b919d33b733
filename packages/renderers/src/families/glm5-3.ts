import type { Grammar, RenderedMessage } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import { dumpJson, fromPython, type PythonDict, toPython } from '../core/python-json.js';
import { isBlank, strip } from '../core/python-text.js';
import { ensureParts, textOf, thinkingOf } from '../messages/content.js';
import type { Content, Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { parseContentBlocks } from '../parsing/blocks.js';
import { parseGlmToolCall } from '../parsing/glm-tool-call.js';
import type { ParsedText } from '../parsing/response-format.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { readToolCall, type ToolCallResults } from '../parsing/tool-calls.js';
import { TOOL_CALL } from './chatml.js';
import { inlineThinking, loadArgumentObject, requireArgumentObject } from './content-rules.js';
import type { Family } from './family.js';
import { GLM_5_3 } from './tool-preambles.js';

const ROLES: Readonly<Record<string, string>> = {
  system: '<|system|>',
  user: '<|user|>',
  assistant: '<|assistant|><think>',
  tool: '<|observation|>',
};

/**
 * GLM-5.3. An assistant's message ends with the token that begins the next one: a user's, or an observation of its tools.
 *
 *     [gMASK]<sop><|system|>Reasoning Effort: Max<|user|>Question<|assistant|><think>Thinking</think>Answer
 *     <tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value></tool_call><|observation|><tool_response>Result</tool_response>
 *
 * (without the line break)
 */
export function glm53(effort: 'Max' | 'High' | 'Low'): Family {
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? false;

    function renderAssistant(message: Message, context: MessageContext): RenderedMessage {
      const { thinking, text } = separate(message.content, context);
      const kept = !strips || context.index > context.lastUserIndex ? thinking : '';
      const end = terminatorOf(message);
      const isTaken = context.next !== undefined && ROLES[context.next.role] === end;
      return {
        header: [ROLES.assistant as string],
        output: [`${kept}</think>${strip(text)}${writeCalls(message, context)}`, isTaken ? end : ''],
        stopOverlap: end,
      };
    }

    return {
      bos: `[gMASK]<sop><|system|>Reasoning Effort: ${effort}`,
      hasExtensionProperty: !strips,
      prepare: inCallOrder,
      renderMessage(message, context) {
        const { previous } = context;
        if (message.role === 'assistant') return renderAssistant(message, context);
        const marker = roleMarker(message.role, context);
        const isWritten =
          (previous?.role === 'assistant' && terminatorOf(previous) === marker) || (message.role === 'tool' && previous?.role === 'tool');
        const text = requireTexts(message.content, context);
        return { header: isWritten ? [] : [marker], output: [message.role === 'tool' ? `<tool_response>${text}</tool_response>` : text] };
      },
      renderSuffix: (role, context) => [roleMarker(role, context)],
      declareTools,
      response: stopTokenFormat({
        tokenizer,
        stops: { '<|user|>': 'stop_sequence', '<|observation|>': 'stop_sequence', '<|endoftext|>': 'eos' },
        opening: '<think>',
        opensThinking: true,
        toolMarkers: [TOOL_CALL],
        parseText,
      }),
      openAI: { hasReasoningContent: true, parseArguments: (text) => (isBlank(text) ? {} : fromPython(requireArgumentObject(text))) },
    };
  };
}

/** What ends an assistant's message: its tools answer, or else the user does. */
function terminatorOf({ toolCalls = [] }: Message): string {
  return (toolCalls.length > 0 ? ROLES.tool : ROLES.user) as string;
}

function roleMarker(role: string, context: MessageContext): string {
  const marker = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (marker === undefined) throw context.invalid('role', `${role} is unknown to this template. Use system, user, assistant or tool.`);
  return marker;
}

function requireTexts(content: Content, context: MessageContext): string {
  const other = ensureParts(content).find(({ type }) => type !== 'text');
  if (other !== undefined) throw context.invalid('content', `has a part of type ${other.type}; this template only takes text here.`);
  return textOf(content);
}

/** Thinking and answer. Text may hold both: the answer is what follows the last `</think>`. */
function separate(content: Content, context: MessageContext): { readonly thinking: string; readonly text: string } {
  if (typeof content === 'string') {
    return { thinking: inlineThinking(content)?.thinking ?? '', text: content.split('</think>').at(-1) as string };
  }
  return {
    thinking: thinkingOf(content),
    text: requireTexts(
      content.filter(({ type }) => type !== 'thinking'),
      context,
    ),
  };
}

function writeCalls(message: Message, context: MessageContext): string {
  const calls = (message.toolCalls ?? []).map((call) => {
    const pairs = [...loadArgumentObject(call, context)].map(
      ([key, value]) =>
        `<arg_key>${key}</arg_key><arg_value>${typeof value === 'string' ? value : dumpJson(value, { raw: true })}</arg_value>`,
    );
    return `<tool_call>${call.function.name}${pairs.join('')}</tool_call>`;
  });
  return calls.join('');
}

/** The answers of tools in the order in which they were called, if their ids say so without doubt. */
function inCallOrder(messages: readonly Message[]): readonly Message[] {
  const ordered = [...messages];
  messages.forEach(({ role, toolCalls = [] }, index) => {
    if (role !== 'assistant' || messages[index + 1]?.role !== 'tool') return;
    const end = messages.findIndex((message, place) => place > index && message.role !== 'tool');
    const results = messages.slice(index + 1, end < 0 ? messages.length : end);
    const callIds = toolCalls.map(({ id }) => id);
    const resultIds = results.map(({ toolCallId }) => toolCallId);
    if (!areUnique(callIds) || !areUnique(resultIds) || !resultIds.every((id) => callIds.includes(id))) return;
    const sorted = results.toSorted((left, right) => callIds.indexOf(left.toolCallId) - callIds.indexOf(right.toolCallId));
    ordered.splice(index + 1, sorted.length, ...sorted);
  });
  return ordered;
}

function areUnique(ids: readonly (string | undefined)[]): boolean {
  return ids.every((id) => id !== undefined && id !== '') && new Set(ids).size === ids.length;
}

function parseText(text: string): ParsedText {
  const blocks = parseContentBlocks(text);
  if (blocks === undefined) return { content: text };
  const results: ToolCallResults = { toolCalls: [...blocks.toolCalls], unparsedToolCalls: [] };
  for (const { rawText } of blocks.unparsedToolCalls) readToolCall(results, rawText, () => parseGlmToolCall(rawText));
  return { content: blocks.parts, ...results };
}

function declareTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const declarations = tools.flatMap(({ strict: _, defer_loading: isDeferred, ...tool }) =>
    isDeferred ? [] : [`${dumpJson(toPython(tool) as PythonDict, { raw: true })}\n`],
  );
  return [
    ...(tools.length === 0 ? [] : [{ role: 'system', content: GLM_5_3(declarations.join('')) }]),
    ...(systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]),
  ];
}
