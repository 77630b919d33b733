import type { Grammar, RenderedMessage } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import { dumpJson, toPython } from '../core/python-json.js';
import { PYTHON_SPACE, strip } from '../core/python-text.js';
import { ensureParts, hasThinking, removeThinking } from '../messages/content.js';
import type { Content, Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { parseThinkBlocks } from '../parsing/blocks.js';
import type { ParsedText, ToolMarkers } from '../parsing/response-format.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { findUnterminated, readToolCall, type ToolCallResults, verbatimToolCall } from '../parsing/tool-calls.js';
import { requireText } from './content-rules.js';
import type { Family } from './family.js';
import { DEEPSEEK_V3 } from './tool-preambles.js';

const EOS = '<｜end▁of▁sentence｜>';
const CALLS: ToolMarkers = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' };
const CALL: ToolMarkers = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>' };
const SEPARATOR = '<｜tool▁sep｜>';

/**
 * DeepSeek V3.1. With thinking, the prompt opens a thinking block; otherwise it closes it.
 *
 *     <｜begin▁of▁sentence｜>System<｜User｜>Question<｜Assistant｜><think>Thinking</think>Answer
 *     <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>
 *     <｜tool▁output▁begin｜>Result<｜tool▁output▁end｜>Answer<｜end▁of▁sentence｜>
 *
 * (without the line breaks)
 */
export function deepseekV3({ thinks }: { readonly thinks: boolean }): Family {
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? true;

    function renderAssistant(message: Message, context: MessageContext): RenderedMessage {
      const text = (content: Content) =>
        `${writeThoughts(content, message, context)}${writeCalls(message)}${content.length === 0 ? '' : EOS}`;
      // After a tool's answer the turn continues without a header.
      if (context.previous?.role === 'tool') return { output: [text(message.content)] };
      if (!thinks) return { header: ['<｜Assistant｜></think>'], output: [text(answerOf(message.content, context))] };
      if (strips && !context.isLast) return { header: ['<｜Assistant｜></think>'], output: [text(message.content)] };
      const isDirect = context.isLast && message.content.length > 0 && !hasThinking(message.content);
      return { header: ['<｜Assistant｜>'], output: [`${isDirect ? '<think></think>' : ''}${text(message.content)}`] };
    }

    /** Content with its thinking, which messages of the past keep only if they call tools. */
    function writeThoughts(content: Content, { toolCalls = [] }: Message, context: MessageContext): string {
      const keepsThinking = context.isLast || !strips || toolCalls.length > 0;
      return writeContent(keepsThinking ? content : removeThinking(content), context);
    }

    return {
      bos: '<｜begin▁of▁sentence｜>',
      hasExtensionProperty: !thinks || !strips,
      renderMessage(message, context) {
        const isLateSystem = message.role === 'system' && context.index > 0;
        if (message.role === 'assistant') return renderAssistant(message, context);
        const text = requireText(message, context);
        if (message.role === 'system' && !isLateSystem) return { output: [text] };
        if (message.role === 'user' || (isLateSystem && options.systemRoleAsUser === true))
          return { header: ['<｜User｜>'], output: [text] };
        if (message.role === 'tool') return { header: ['<｜tool▁output▁begin｜>'], output: [`${text}<｜tool▁output▁end｜>`] };
        const advice = isLateSystem ? 'Put it first, or set the option systemRoleAsUser.' : 'Use system, user, assistant or tool.';
        throw context.invalid('role', `${message.role} cannot stand here in this template. ${advice}`);
      },
      renderPrefill: (prefill, { previous }) => `${thinks && previous?.role !== 'tool' ? '<think>' : ''}${prefill}`,
      declareTools,
      response: stopTokenFormat({
        tokenizer,
        stops: { [EOS]: 'stop_sequence' },
        opening: thinks ? '<think>' : undefined,
        opensThinking: thinks,
        toolMarkers: [CALLS],
        parseText,
      }),
      openAI: { hasReasoningContent: true },
    };
  };
}

/** Only the answer, as text: an answer that is empty without its thinking is not ended. */
function answerOf(content: Content, context: MessageContext): string {
  return typeof content === 'string' ? content.replace(/<think>.*?<\/think>/gs, '') : writeContent(removeThinking(content), context);
}

function writeContent(content: Content, context: MessageContext): string {
  const texts = ensureParts(content).map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'thinking') return `<think>${part.thinking}</think>`;
    throw context.invalid('content', `has a part of type ${part.type}, which this template does not know.`);
  });
  return texts.join('');
}

function writeCalls({ toolCalls = [] }: Message): string {
  const calls = toolCalls.map(({ function: { name, arguments: args } }) => `${CALL.open}${name}${SEPARATOR}${args}${CALL.close}`);
  return calls.length === 0 ? '' : `${CALLS.open}${calls.join('')}${CALLS.close}`;
}

const SECTION = new RegExp(`${CALLS.open}(.*?)${CALLS.close}`, 's');
const ALL_SECTIONS = new RegExp(`[${PYTHON_SPACE}]*${CALLS.open}.*?${CALLS.close}`, 'gs');
/** A name of word characters; calls of other names are passed over. */
const CALLS_IN_SECTION = new RegExp(`${CALL.open}([\\p{L}\\p{N}\\p{M}_]+)${SEPARATOR}(.*?)${CALL.close}`, 'gsu');

function parseText(text: string): ParsedText {
  const results: ToolCallResults = { toolCalls: [], unparsedToolCalls: [] };
  const [, section = ''] = SECTION.exec(text) ?? [];
  for (const [call, name = '', args = ''] of section.matchAll(CALLS_IN_SECTION))
    readToolCall(results, call, () => verbatimToolCall(name, args));
  const unterminated = findUnterminated(text, CALLS) ?? findUnterminated(text, CALL);
  if (unterminated !== undefined) results.unparsedToolCalls.push(unterminated);
  const hasCalls = results.toolCalls.length > 0 || results.unparsedToolCalls.length > 0;
  const content = hasCalls ? strip(text.replace(ALL_SECTIONS, '')) : text;
  return { content: parseThinkBlocks(content) ?? content, ...results };
}

function declareTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const declarations = tools.map(
    ({ name, description, parameters }) => `### ${name}\nDescription: ${description}\n\nParameters: ${dumpJson(toPython(parameters))}`,
  );
  return [{ role: 'system', content: tools.length === 0 ? systemPrompt : `${systemPrompt}${DEEPSEEK_V3(declarations.join('\n'))}` }];
}
