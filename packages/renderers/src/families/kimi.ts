import type { Grammar, RenderedMessage } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { dumpJson } from '../core/python-json.js';
import { isBlank, PYTHON_SPACE } from '../core/python-text.js';
import type { TrainOnWhat } from '../core/renderer.js';
import { ensureParts, singleText, textOf, thinkingOf } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { parseThinkBlocks } from '../parsing/blocks.js';
import type { ParsedText, ToolMarkers } from '../parsing/response-format.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { findUnterminated, readToolCall, type ToolCallResults, verbatimToolCall } from '../parsing/tool-calls.js';
import { requireText } from './content-rules.js';
import type { Family, RendererOptions } from './family.js';
import { imagePiece } from './images.js';
import { declareAsTypeScript } from './kimi-declarations.js';
import { wrapTool } from './tool-declarations.js';

/** What the names of the family differ in. */
interface KimiVariant {
  /** Kimi K2.5 and K2.6: images, tools declared in TypeScript, and prompts that decide about thinking. */
  readonly isK25?: boolean;
  readonly disablesThinking?: boolean;
  readonly stripsByDefault?: boolean;
}

const DEFAULT_SYSTEM_PROMPT = 'You are Kimi, an AI assistant created by Moonshot AI.';
const IM_END = '<|im_end|>';
const CALL: ToolMarkers = { open: '<|tool_call_begin|>', close: '<|tool_call_end|>' };
/** The model writes both spellings; the template writes the first. */
const SECTIONS: readonly ToolMarkers[] = [
  { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' },
  { open: '<|tool_call_section_begin|>', close: '<|tool_call_section_end|>' },
];
const [SECTION] = SECTIONS as [ToolMarkers];

/**
 * Kimi K2, K2.5 and K2.6. There is always a system message; every assistant message has a thinking block, if only an empty one.
 *
 *     <|im_system|>system<|im_middle|>System<|im_end|>
 *     <|im_user|>user<|im_middle|>Question<|im_end|>
 *     <|im_assistant|>assistant<|im_middle|><think>Thinking</think>Answer<|tool_calls_section_begin|>
 *     <|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "x"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>
 *     <|im_system|>search<|im_middle|>## Return of functions.search:0⏎
 *     Result<|im_end|>
 *
 * (without line breaks but ⏎)
 */
export function kimi({ isK25 = false, disablesThinking = false, stripsByDefault = true }: KimiVariant = {}): Family {
  const opening = !isK25 ? '' : disablesThinking ? '<think></think>' : '<think>';
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? stripsByDefault;

    function renderAssistant(message: Message, { isInLastTurn }: MessageContext): RenderedMessage {
      const thinking = isInLastTurn || !strips ? thinkingOf(message.content) : '';
      return {
        header: [writeHeader(message)],
        output: [`<think>${thinking}</think>${textOf(message.content)}${writeCalls(message)}${IM_END}`],
      };
    }

    return {
      hasExtensionProperty: false,
      disablesThinking,
      prepare: addSystemMessage,
      renderMessage(message, context) {
        if (message.role === 'assistant') return renderAssistant(message, context);
        const header = [writeHeader(message)];
        if (!isK25 || singleText(message.content) !== undefined) return { header, output: [`${requireText(message, context)}${IM_END}`] };
        return { header, output: [...writeParts(message, context, options), IM_END] };
      },
      renderPrefill: (prefill) => `${opening}${prefill}`,
      turnStart: (messages) => messages.findLastIndex(({ role, toolCalls = [] }) => role === 'assistant' && toolCalls.length === 0) + 1,
      splitExamples: splitAtUsers,
      declareTools: isK25 ? declareInTypeScript : declareAsJson,
      response: stopTokenFormat({
        tokenizer,
        stops: { [IM_END]: 'stop_sequence' },
        opening: isK25 ? '<think>' : undefined,
        opensThinking: isK25 && !disablesThinking,
        toolMarkers: SECTIONS,
        parseText,
      }),
      openAI: { hasReasoningContent: true },
    };
  };
}

function addSystemMessage(messages: readonly Message[]): readonly Message[] {
  const place = messages[0]?.role === 'tool_declare' ? 1 : 0;
  if (messages[place]?.role === 'system') return messages;
  return [...messages.slice(0, place), { role: 'system', content: DEFAULT_SYSTEM_PROMPT }, ...messages.slice(place)];
}

function writeHeader({ role, name, toolCallId = '' }: Message): string {
  if (role === 'user') return '<|im_user|>user<|im_middle|>';
  if (role === 'assistant') return '<|im_assistant|>assistant<|im_middle|>';
  if (role === 'tool') return `<|im_system|>${name || 'tool'}<|im_middle|>## Return of ${toolCallId}\n`;
  return `<|im_system|>${role}<|im_middle|>`;
}

function writeParts({ content }: Message, context: MessageContext, options: RendererOptions): Piece[] {
  return ensureParts(content).flatMap((part): Piece[] => {
    if (part.type === 'text') return [part.text];
    return ['<|media_begin|>image<|media_content|>', imagePiece(part, context, options), '<|media_end|>\n'];
  });
}

function writeCalls({ toolCalls = [] }: Message): string {
  const calls = toolCalls.map(
    ({ id, function: { name, arguments: args } }, index) =>
      `${CALL.open}${id || `functions.${name}:${index}`}<|tool_call_argument_begin|>${args}${CALL.close}`,
  );
  return calls.length === 0 ? '' : `${SECTION.open}${calls.join('')}${SECTION.close}`;
}

/** One example per turn of a user, because an answer without calls ends what the model remembers thinking. */
function splitAtUsers(
  messages: readonly Message[],
  trainOnWhat: TrainOnWhat,
): { messages: readonly Message[]; trainOnWhat: TrainOnWhat }[] {
  if (trainOnWhat === 'last_assistant_message' || trainOnWhat === 'last_assistant_turn') return [{ messages, trainOnWhat }];
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const mode = trainOnWhat === 'all_assistant_messages' ? 'last_assistant_turn' : trainOnWhat;
  return [...users.slice(1), messages.length].map((end) => ({ messages: messages.slice(0, end), trainOnWhat: mode }));
}

function declareAsJson(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  return declare(tools, systemPrompt, () => dumpJson(tools.map(wrapTool), { compact: true, sortKeys: 'all' }));
}

function declareInTypeScript(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  return declare(tools, systemPrompt, () => declareAsTypeScript(tools));
}

function declare(tools: readonly ToolSpec[], systemPrompt: string, write: () => string): Message[] {
  const system: Message = { role: 'system', content: isBlank(systemPrompt) ? DEFAULT_SYSTEM_PROMPT : systemPrompt };
  return tools.length === 0 ? [system] : [{ role: 'tool_declare', content: write() }, system];
}

const S = `[${PYTHON_SPACE}]*`;
const COMPLETE_SECTION = /<\|tool_calls?_section_begin\|>(.*?)<\|tool_calls?_section_end\|>/s;
/** Calls whose id ends in a number; others are passed over. */
const CALLS = new RegExp(
  `<\\|tool_call_begin\\|>${S}([^<]+:\\p{Nd}+)${S}<\\|tool_call_argument_begin\\|>${S}(.*?)${S}<\\|tool_call_end\\|>`,
  'gsu',
);

function parseText(text: string): ParsedText {
  const results: ToolCallResults = { toolCalls: [], unparsedToolCalls: [] };
  const section = COMPLETE_SECTION.exec(text);
  for (const [call, id = '', args = ''] of section?.[1]?.matchAll(CALLS) ?? []) {
    readToolCall(results, call, () => verbatimToolCall(nameOf(id), args, id));
  }
  const unterminated = [...SECTIONS, CALL].map((markers) => findUnterminated(text, markers)).find((found) => found !== undefined);
  if (unterminated !== undefined) results.unparsedToolCalls.push(unterminated);
  const content = section === null ? text : text.slice(0, section.index);
  return { content: parseThinkBlocks(content) ?? content, ...results };
}

/** `functions.NAME:3` is NAME. */
function nameOf(id: string): string {
  const name = id.split(':')[0] as string;
  return name.slice(name.indexOf('.') + 1);
}
