import { ConfigurationError, dmel, ModelInput } from '@tinkex/types';
import type { Grammar } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import { type Piece, plainText } from '../core/pieces.js';
import { dumpJson, isDict, type PythonDict, type PythonValue, serdeFloat } from '../core/python-json.js';
import { tryLoadJson } from '../core/python-json-reader.js';
import { ensureParts, textOf } from '../messages/content.js';
import type { AudioPart, ContentPart, Message, ToolCall } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import type { Family } from './family.js';
import { countedImage } from './images.js';
import { tmlResponse } from './tml-v0-response.js';
import { wrapTool } from './tool-declarations.js';

const AUTHORS: Readonly<Record<string, string>> = {
  system: '<|message_system|>',
  tool_declare: '<|message_system|>',
  user: '<|message_user|>',
  assistant: '<|message_model|>',
  tool: '<|message_tool|>',
};
const END = '<|end_message|>';
const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * Inkling. Text never becomes a special token; the model writes its own headers, so a prompt ends with the last message.
 *
 *     <|message_system|><|content_text|>Thinking effort level: 0.9<|end_message|>
 *     <|message_user|><|content_text|>Question<|end_message|>
 *     <|message_model|><|content_thinking|>Thinking<|end_message|>
 *     <|message_model|>search<|content_invoke_tool_json|>{"name":"search","args":{"query":"x"}}<|end_message|><|content_model_end_sampling|>
 *     <|message_tool|>search<|content_text|>Result<|end_message|>
 *
 * (without the line breaks)
 */
export const tmlV0: Family = ({ tokenizer, options: { effort = 0.9 } }): Grammar => {
  const effortMessage: Message = { role: 'system', content: `Thinking effort level: ${formatEffort(effort)}` };
  return {
    hasExtensionProperty: true,
    prepare(messages) {
      const end = messages.findIndex(({ role }) => role !== 'system' && role !== 'tool_declare');
      const place = end < 0 ? messages.length : end;
      return [...messages.slice(0, place), effortMessage, ...messages.slice(place)];
    },
    renderMessage: (message, context) => ({ output: writeMessage(message, context) }),
    renderSuffix(role, context) {
      if (role === 'assistant') return [];
      throw context.invalid('role', `${role} cannot be prompted: the template has no header that a prompt could end with.`);
    },
    renderPrefill(prefill, context) {
      if (prefill === '') return '';
      throw context.invalid('prefill', 'cannot be used: the model writes the header of its answer itself.');
    },
    training: {
      modes: ['all_assistant_messages', 'last_assistant_message', 'customized'],
      isTrained(message, trainOnWhat, { index, messages }) {
        if (message.role !== 'assistant') return false;
        if (trainOnWhat === 'customized') return message.trainable !== false;
        return trainOnWhat === 'all_assistant_messages' || index === messages.findLastIndex(({ role }) => role === 'assistant');
      },
    },
    declareTools,
    response: tmlResponse(tokenizer),
  };
};

/** Hundredths, rounded half to even from thousandths, without trailing zeros. */
function formatEffort(effort: number): string {
  if (!(effort >= 0 && effort < 1)) {
    throw new ConfigurationError({ option: 'effort', message: `The effort must be from 0 to below 1; got ${String(effort)}.` });
  }
  const thousandths = Math.round(effort * 1000);
  const [hundredths, rest] = [Math.floor(thousandths / 10), thousandths % 10];
  const isUp = rest > 5 || (rest === 5 && hundredths % 2 === 1);
  return String((hundredths + (isUp ? 1 : 0)) / 100);
}

/** One message of the format per part and per call. Another token closes the assistant's turn. */
function writeMessage(message: Message, context: MessageContext): Piece[] {
  const { role, content, toolCalls = [] } = message;
  const author = AUTHORS[role];
  if (author === undefined)
    throw context.invalid('role', `${role} is unknown to this template. Use system, user, assistant, tool or tool_declare.`);
  if (role === 'tool_declare') return [author, plainText('tool_declare'), '<|content_xml|>', plainText(writeTools(message, context)), END];
  const parts = ensureParts(content).filter((part) => toolCalls.length === 0 || part.type !== 'text' || part.text !== '');
  const name = role === 'tool' ? plainText(message.name ?? '') : '';
  const pieces = [
    ...parts.flatMap((part) => [author, name, ...writePart(part, context), END]),
    ...toolCalls.flatMap((call) => [
      author,
      plainText(call.function.name),
      '<|content_invoke_tool_json|>',
      plainText(writeCall(call, context)),
      END,
    ]),
  ];
  return role === 'assistant' && pieces.length > 0 ? [...pieces, '<|content_model_end_sampling|>'] : pieces;
}

function writePart(part: ContentPart, context: MessageContext): Piece[] {
  switch (part.type) {
    case 'text':
      return ['<|content_text|>', plainText(part.text)];
    case 'thinking':
      return ['<|content_thinking|>', plainText(part.thinking)];
    case 'image':
      return [
        '<|content_image|>',
        countedImage(part.image, context, ({ width, height }) => (Math.floor(width / 40) + 1) * Math.ceil(height / 40)),
      ];
    case 'audio':
      return ['<|content_audio_input|>', audioPiece(part, context), '<|audio_end|>'];
  }
}

function audioPiece({ audio }: AudioPart, context: MessageContext): Piece {
  if (typeof audio === 'string')
    throw context.invalid('content', 'has audio as text. Turn it into discrete mel frames first and pass their bytes.');
  const chunk = dmel(audio);
  return { chunk, length: new ModelInput([chunk]).length };
}

function writeCall({ function: { name, arguments: text } }: ToolCall, context: MessageContext): string {
  const args = tryLoadJson(text);
  if (args === undefined || !isDict(args))
    throw context.invalid('toolCalls', `has a call of "${name}" whose arguments are not a JSON object.`);
  const written = dumpJson(asSerde(args), { raw: true, compact: true, sortKeys: 'outermost', writeFloat: serdeFloat });
  return `{"name":${dumpJson(name, { raw: true })},"args":${written}}`;
}

/** Rust has no integers beyond 64 bits: such become floats. */
function asSerde(value: PythonValue): PythonValue {
  if (typeof value === 'bigint') return value > MAX_UINT64 || value < MIN_INT64 ? Number(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  return isDict(value) ? new Map([...value].map(([key, item]) => [key, asSerde(item)])) : value.map(asSerde);
}

/** The declared tools, every key in order. */
function writeTools({ content }: Message, context: MessageContext): string {
  const tools = tryLoadJson(textOf(content));
  if (!Array.isArray(tools)) throw context.invalid('content', 'must be a JSON list of tools; use createConversationPrefixWithTools.');
  const declarations = tools.map((tool: PythonValue): PythonDict => {
    const declared = isDict(tool) ? tool.get('function') : undefined;
    if (declared === undefined || !isDict(declared))
      throw context.invalid('content', 'must be a JSON list of tools; use createConversationPrefixWithTools.');
    return new Map<string, PythonValue>([...declared, ['type', 'function']]);
  });
  return dumpJson(declarations, { raw: true, compact: true, sortKeys: 'all', writeFloat: serdeFloat });
}

function declareTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const wrapped = tools.map(({ name, description, parameters }) => wrapTool({ name, description, parameters }));
  return [
    ...(systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]),
    ...(tools.length === 0 ? [] : [{ role: 'tool_declare', content: dumpJson(wrapped, { compact: true }) }]),
  ];
}
