import { invalidMessages } from '../core/masks.js';
import type { MessageContext } from '../core/message-context.js';
import { isDict, type PythonDict, type PythonValue } from '../core/python-json.js';
import { tryLoadJson } from '../core/python-json-reader.js';
import { isBlank } from '../core/python-text.js';
import { singleText } from '../messages/content.js';
import type { Message, ToolCall } from '../messages/message.js';

const OPEN = '<think>';
const CLOSE = '</think>';

/** The text of a message that may be nothing but text. */
export function requireText({ content }: Message, context: MessageContext): string {
  const text = singleText(content);
  if (text !== undefined) return text;
  throw context.invalid('content', `must be text or a single text part for this template; it has ${content.length} parts.`);
}

/** Thinking inside text: what stands before the first `</think>`, after the `<think>` nearest to it. Undefined without `</think>`. */
export function inlineThinking(text: string): { readonly thinking: string; readonly rest: string } | undefined {
  const end = text.indexOf(CLOSE);
  if (end < 0) return undefined;
  const before = text.slice(0, end);
  return { thinking: before.split(OPEN).at(-1) ?? '', rest: text.slice(end + CLOSE.length) };
}

/** The arguments of a call. */
export function loadArguments({ function: { name, arguments: text } }: ToolCall, context: MessageContext): PythonValue {
  const value = tryLoadJson(text);
  if (value !== undefined) return value;
  throw context.invalid('toolCalls', `has a call of "${name}" whose arguments are not JSON.`);
}

/** The arguments of a call as an object. Blank text is an object without entries. */
export function loadArgumentObject(call: ToolCall, context: MessageContext): PythonDict {
  if (isBlank(call.function.arguments)) return new Map();
  const value = loadArguments(call, context);
  if (isDict(value)) return value;
  throw context.invalid('toolCalls', `has a call of "${call.function.name}" whose arguments are not a JSON object.`);
}

/** JSON text that must be an object, where no conversation gives a place to name. */
export function requireArgumentObject(text: string): PythonDict {
  const value = tryLoadJson(text);
  if (value !== undefined && isDict(value)) return value;
  throw invalidMessages('toolCalls', 'has a call whose arguments are not a JSON object.');
}
