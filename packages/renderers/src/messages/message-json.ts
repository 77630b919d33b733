import { booleanAt, invalid, isAbsent, type Json, listAt, objectAt, stringAt } from './json-fields.js';
import type { ContentPart, Message, ToolCall, UnparsedToolCall } from './message.js';

const MESSAGE_FIELDS = ['role', 'content', 'tool_calls', 'unparsed_tool_calls', 'trainable', 'tool_call_id', 'name'];

/**
 * Reads a message from the reference's JSON (`tool_calls`, `tool_call_id`, …). Throws a `ValidationError` that names the field; `path` says where the
 * message stands, such as `messages[3]`.
 */
export function decodeMessage(json: unknown, path = 'message'): Message {
  const fields = objectAt(json, path);
  const unknown = Object.keys(fields).find((field) => !MESSAGE_FIELDS.includes(field));
  if (unknown !== undefined) throw invalid(`${path}.${unknown}`, `is not a field of a message (${MESSAGE_FIELDS.join(', ')})`);
  const { tool_calls, unparsed_tool_calls, trainable, tool_call_id, name } = fields;
  return {
    role: stringAt(fields.role, `${path}.role`),
    content: decodeContent(fields.content, `${path}.content`),
    ...(isAbsent(tool_calls) ? {} : { toolCalls: listAt(tool_calls, `${path}.tool_calls`, decodeToolCall) }),
    ...(isAbsent(unparsed_tool_calls)
      ? {}
      : { unparsedToolCalls: listAt(unparsed_tool_calls, `${path}.unparsed_tool_calls`, decodeUnparsedToolCall) }),
    ...(isAbsent(trainable) ? {} : { trainable: booleanAt(trainable, `${path}.trainable`) }),
    ...(isAbsent(tool_call_id) ? {} : { toolCallId: stringAt(tool_call_id, `${path}.tool_call_id`) }),
    ...(isAbsent(name) ? {} : { name: stringAt(name, `${path}.name`) }),
  };
}

/** Writes a message as the reference's JSON. Images and audio must be addresses or data URIs. */
export function encodeMessage(message: Message): Json {
  const { role, content, toolCalls, unparsedToolCalls, trainable, toolCallId, name } = message;
  const json: Record<string, unknown> = { role, content: typeof content === 'string' ? content : content.map(encodePart) };
  if (toolCalls !== undefined)
    json.tool_calls = toolCalls.map(({ type, id = null, function: call }) => ({ type, id, function: { ...call } }));
  if (unparsedToolCalls !== undefined)
    json.unparsed_tool_calls = unparsedToolCalls.map(({ rawText, error }) => ({ raw_text: rawText, error }));
  if (trainable !== undefined) json.trainable = trainable;
  if (toolCallId !== undefined) json.tool_call_id = toolCallId;
  if (name !== undefined) json.name = name;
  return json;
}

function encodePart(part: ContentPart, index: number): Json {
  const source = part.type === 'image' ? part.image : part.type === 'audio' ? part.audio : '';
  if (typeof source !== 'string') throw invalid(`content[${index}].${part.type}`, 'holds bytes, which JSON cannot carry; use a data URI');
  return { ...part };
}

function decodeContent(json: unknown, path: string): Message['content'] {
  return typeof json === 'string' ? json : listAt(json, path, decodePart, 'must be text or a list of parts');
}

function decodePart(json: unknown, path: string): ContentPart {
  const part = objectAt(json, path);
  switch (part.type) {
    case 'text':
      return { type: 'text', text: stringAt(part.text, `${path}.text`) };
    case 'thinking':
      return { type: 'thinking', thinking: stringAt(part.thinking, `${path}.thinking`) };
    case 'image':
      return { type: 'image', image: stringAt(part.image, `${path}.image`) };
    case 'audio':
      return { type: 'audio', audio: stringAt(part.audio, `${path}.audio`) };
    default:
      throw invalid(`${path}.type`, `must be text, thinking, image or audio; got ${JSON.stringify(part.type)}`);
  }
}

function decodeToolCall(json: unknown, path: string): ToolCall {
  const { id, function: called } = objectAt(json, path);
  const { name, arguments: args } = objectAt(called, `${path}.function`);
  return {
    type: 'function',
    ...(isAbsent(id) ? {} : { id: stringAt(id, `${path}.id`) }),
    function: {
      name: stringAt(name, `${path}.function.name`),
      arguments: stringAt(args, `${path}.function.arguments`, 'must be JSON text; use JSON.stringify'),
    },
  };
}

function decodeUnparsedToolCall(json: unknown, path: string): UnparsedToolCall {
  const { raw_text, error } = objectAt(json, path);
  return { rawText: stringAt(raw_text, `${path}.raw_text`), error: stringAt(error, `${path}.error`) };
}
