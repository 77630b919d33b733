import { formatContent } from './content.js';
import type { Conversation } from './conversation.js';
import { invalid, isAbsent, type Json, listAt, objectAt, stringAt } from './json-fields.js';
import type { Message, ToolCall } from './message.js';
import { argumentText, decodeTool } from './openai.js';

/** Who speaks, by the names that data sets use. */
const SPEAKERS: Readonly<Record<string, string>> = {
  system: 'system',
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  function_call: 'assistant',
  observation: 'tool',
  tool: 'tool',
};

/**
 * Reads a ShareGPT record: `{ "conversations": [{ "from": "human", "value": "…" }], "system": …, "tools": … }`. A `function_call` is JSON with a name and
 * arguments, or a list of such. Throws a `ValidationError` that names the field.
 */
export function fromShareGpt(record: unknown, path = 'record'): Conversation {
  const { conversations, system, tools } = objectAt(record, path);
  const messages = listAt(conversations, `${path}.conversations`, decodeTurn);
  const isPrompted = !isAbsent(system) && system !== '';
  return {
    messages: joinCalls(isPrompted ? [{ role: 'system', content: stringAt(system, `${path}.system`) }, ...messages] : messages),
    ...(isAbsent(tools) || tools === '' ? {} : { tools: listAt(parse(tools, `${path}.tools`), `${path}.tools`, decodeTool) }),
  };
}

/** Writes a conversation as a ShareGPT record. Thinking stands in `<think>` tags; ids of calls are lost. */
export function toShareGpt({ messages, tools = [] }: Conversation): Json {
  return {
    conversations: messages.flatMap(encodeTurns),
    ...(tools.length === 0 ? {} : { tools: JSON.stringify(tools) }),
  };
}

function decodeTurn(json: unknown, path: string): Message {
  const { from, value } = objectAt(json, path);
  const speaker = stringAt(from, `${path}.from`);
  const role = Object.hasOwn(SPEAKERS, speaker) ? SPEAKERS[speaker] : undefined;
  if (role === undefined)
    throw invalid(`${path}.from`, `must be one of ${Object.keys(SPEAKERS).join(', ')}; got ${JSON.stringify(speaker)}`);
  if (speaker !== 'function_call') return { role, content: stringAt(value, `${path}.value`) };
  const calls = parse(value, `${path}.value`);
  return { role, content: '', toolCalls: listAt(Array.isArray(calls) ? calls : [calls], `${path}.value`, decodeCall) };
}

function decodeCall(json: unknown, path: string): ToolCall {
  const { name, arguments: args } = objectAt(json, path);
  return { type: 'function', function: { name: stringAt(name, `${path}.name`), arguments: argumentText(args, `${path}.arguments`) } };
}

/** What the model said before it called, and the call, are one message. */
function joinCalls(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const isCallAfterText = message.toolCalls !== undefined && last?.role === 'assistant' && last.toolCalls === undefined;
    if (isCallAfterText) joined[joined.length - 1] = { ...last, toolCalls: message.toolCalls };
    else joined.push(message);
  }
  return joined;
}

function encodeTurns({ role, content, toolCalls = [] }: Message, index: number): Json[] {
  const value = formatContent(content, '');
  const from = { user: 'human', assistant: 'gpt', tool: 'observation', system: 'system' }[role as string];
  if (value === undefined) throw invalid(`messages[${index}].content`, 'has audio, which this format cannot carry');
  if (from === undefined) throw invalid(`messages[${index}].role`, `is ${role}, which this format does not know`);
  const calls = toolCalls.map(({ function: { name, arguments: args } }) => ({
    name,
    arguments: parse(args, `messages[${index}].toolCalls`),
  }));
  return [
    ...(calls.length > 0 && value === '' ? [] : [{ from, value }]),
    ...(calls.length === 0 ? [] : [{ from: 'function_call', value: JSON.stringify(calls.length === 1 ? calls[0] : calls) }]),
  ];
}

function parse(text: unknown, path: string): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(path, 'must be JSON text');
  }
}
