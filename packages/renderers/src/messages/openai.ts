import { dumpJson, toPython } from '../core/python-json.js';
import { hasThinkingPart, textOf, thinkingOf } from './content.js';
import type { Conversation } from './conversation.js';
import { invalid, isAbsent, type Json, listAt, objectAt, stringAt } from './json-fields.js';
import type { Content, ContentPart, Message, ToolCall } from './message.js';
import type { ToolSpec } from './tool.js';

/**
 * Reads a record of OpenAI's chat format: `{ "messages": […], "tools": […] }`. Understands `reasoning_content`, images by data URI, and the `weight` of
 * fine-tuning files, which becomes `trainable` on every message. Throws a `ValidationError` that names the field; `path` says which record it is, such
 * as `records[12]`.
 */
export function fromOpenAI(record: unknown, path = 'record'): Conversation {
  const { messages: list, tools } = objectAt(record, path);
  const messages = listAt(list, `${path}.messages`, decodeMessage);
  const isWeighed = (list as readonly Json[]).some(({ weight }) => !isAbsent(weight));
  return {
    messages: isWeighed
      ? messages.map((message, index) => ({ ...message, trainable: isTrained(message, (list as readonly Json[])[index]) }))
      : messages,
    ...(isAbsent(tools) ? {} : { tools: listAt(tools, `${path}.tools`, decodeTool) }),
  };
}

/** Writes a conversation as a record of OpenAI's chat format. Thinking becomes `reasoning_content`. */
export function toOpenAI({ messages, tools = [] }: Conversation): Json {
  return {
    messages: messages.map(encodeMessage),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
  };
}

/** An assistant message without a weight is trained on; messages of others never are. */
function isTrained({ role }: Message, json: Json | undefined): boolean {
  return role === 'assistant' && json?.weight !== 0;
}

function decodeMessage(json: unknown, path: string): Message {
  const fields = objectAt(json, path);
  const role = stringAt(fields.role, `${path}.role`);
  const { tool_calls, tool_call_id, name, reasoning_content: reasoning, content } = fields;
  if (!isAbsent(fields.function_call)) throw invalid(`${path}.function_call`, 'is the old form of a call; use tool_calls');
  const decoded = isAbsent(content) && role === 'assistant' ? '' : decodeContent(content, `${path}.content`);
  return {
    role,
    content: isAbsent(reasoning) ? decoded : withThinking(stringAt(reasoning, `${path}.reasoning_content`), decoded),
    ...(isAbsent(tool_calls) ? {} : { toolCalls: listAt(tool_calls, `${path}.tool_calls`, decodeToolCall) }),
    ...(isAbsent(tool_call_id) ? {} : { toolCallId: stringAt(tool_call_id, `${path}.tool_call_id`) }),
    ...(isAbsent(name) ? {} : { name: stringAt(name, `${path}.name`) }),
  };
}

function decodeContent(json: unknown, path: string): Content {
  return typeof json === 'string' ? json : listAt(json, path, decodePart, 'must be text or a list of parts');
}

function decodePart(json: unknown, path: string): ContentPart {
  const { type, text, image_url } = objectAt(json, path);
  if (type === 'text') return { type, text: stringAt(text, `${path}.text`) };
  if (type !== 'image_url') throw invalid(`${path}.type`, `must be text or image_url; got ${JSON.stringify(type)}`);
  const { url } = objectAt(image_url, `${path}.image_url`);
  return { type: 'image', image: stringAt(url, `${path}.image_url.url`) };
}

function withThinking(thinking: string, content: Content): Content {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return [{ type: 'thinking', thinking }, ...parts];
}

function decodeToolCall(json: unknown, path: string): ToolCall {
  const { id, function: called } = objectAt(json, path);
  const { name, arguments: args } = objectAt(called, `${path}.function`);
  return {
    type: 'function',
    ...(isAbsent(id) ? {} : { id: stringAt(id, `${path}.id`) }),
    function: { name: stringAt(name, `${path}.function.name`), arguments: argumentText(args, `${path}.function.arguments`) },
  };
}

/** Arguments as JSON text. Some data sets have them as an object. */
export function argumentText(args: unknown, path: string): string {
  if (typeof args === 'string') return args;
  return dumpJson(toPython(objectAt(args, path)));
}

export function decodeTool(json: unknown, path: string): ToolSpec {
  const outer = objectAt(json, path);
  const [declared, at] = outer.function === undefined ? [outer, path] : [objectAt(outer.function, `${path}.function`), `${path}.function`];
  return {
    ...declared,
    name: stringAt(declared.name, `${at}.name`),
    description: isAbsent(declared.description) ? '' : stringAt(declared.description, `${at}.description`),
    parameters: (isAbsent(declared.parameters)
      ? { type: 'object', properties: {} }
      : objectAt(declared.parameters, `${at}.parameters`)) as ToolSpec['parameters'],
  };
}

function encodeMessage({ role, content, toolCalls = [], toolCallId, name, trainable }: Message, index: number): Json {
  const json: Record<string, unknown> = { role, content: encodeContent(content, `messages[${index}].content`) };
  if (hasThinkingPart(content)) json.reasoning_content = thinkingOf(content);
  if (toolCalls.length > 0)
    json.tool_calls = toolCalls.map(({ type, id, function: called }) => ({
      ...(id === undefined ? {} : { id }),
      type,
      function: { ...called },
    }));
  if (toolCallId !== undefined) json.tool_call_id = toolCallId;
  if (name !== undefined) json.name = name;
  if (trainable !== undefined && role === 'assistant') json.weight = trainable ? 1 : 0;
  return json;
}

function encodeContent(content: Content, path: string): unknown {
  if (typeof content === 'string' || content.every(({ type }) => type === 'text' || type === 'thinking')) return textOf(content);
  return content.flatMap((part, index): Json[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type === 'image' && typeof part.image === 'string') return [{ type: 'image_url', image_url: { url: part.image } }];
    if (part.type === 'thinking') return [];
    throw invalid(`${path}[${index}]`, 'holds bytes or audio, which this format cannot carry; use a data URI');
  });
}
