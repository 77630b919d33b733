import { ValidationError } from '@tinkex/types';
import { dumpJson, isDict } from '../core/python-json.js';
import { tryLoadJson } from '../core/python-json-reader.js';
import type { ParsedResponse } from '../core/renderer.js';
import { decodeTokens } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import type { ContentPart, Message, ToolCall } from '../messages/message.js';
import type { ResponseFormat } from '../parsing/response-format.js';
import { requireToken } from '../parsing/stop-token-format.js';
import { toolCall } from '../parsing/tool-calls.js';

const STOP = '<|content_model_end_sampling|>';
const END = '<|end_message|>';
const AUTHORS = {
  '<|message_system|>': 'system',
  '<|message_user|>': 'user',
  '<|message_model|>': 'assistant',
  '<|message_tool|>': 'tool',
} as const;
const CONTENTS = ['text', 'thinking', 'tool_error', 'invoke_tool_json', 'invoke_tool_text', 'xml'] as const;

type Author = (typeof AUTHORS)[keyof typeof AUTHORS];
type ContentKind = (typeof CONTENTS)[number];

/** One message of the format. */
interface TmlMessage {
  readonly author: Author;
  readonly name: string;
  readonly kind: ContentKind;
  readonly text: string;
}

/** Tokens that do not follow the format. */
class FramingError extends Error {
  override readonly name = 'FramingError';
}

/** Reads responses that contain their own headers. Whatever does not follow the format is given back as text. */
export function tmlResponse(tokenizer: RendererTokenizer): ResponseFormat {
  const stop = requireToken(tokenizer, STOP);
  const end = requireToken(tokenizer, END);
  const authors = new Map(Object.entries(AUTHORS).map(([token, author]) => [requireToken(tokenizer, token), author]));
  const kinds = new Map(CONTENTS.map((kind) => [requireToken(tokenizer, `<|content_${kind}|>`), kind]));

  /** Text that is complete UTF-8. */
  function readText(tokens: readonly number[]): string {
    const text = decodeTokens(tokenizer, tokens);
    const isSuspect = text.includes('\uFFFD') && !tokens.some((token) => authors.has(token) || kinds.has(token));
    if (isSuspect && String(Array.from(tokenizer.encode(text, { addedTokens: 'none' }))) !== String(tokens))
      throw new FramingError('not UTF-8');
    return text;
  }

  function readMessage(tokens: readonly number[]): TmlMessage {
    const author = authors.get(tokens[0] as number);
    const start = author === undefined ? 0 : 1;
    const kindAt = tokens.findIndex((token) => kinds.has(token));
    const isHeaderless = author === undefined && kindAt !== 0;
    if (isHeaderless || kindAt < 0 || tokens.includes(stop)) throw new FramingError('not a message');
    return {
      author: author ?? 'assistant',
      name: readText(tokens.slice(start, kindAt)),
      kind: kinds.get(tokens[kindAt] as number) as ContentKind,
      text: readText(tokens.slice(kindAt + 1)),
    };
  }

  function readMessages(tokens: readonly number[]): { readonly messages: TmlMessage[]; readonly isStopped: boolean } {
    const messages: TmlMessage[] = [];
    let isStopped = false;
    let position = 0;
    while (position < tokens.length) {
      if (tokens[position] === stop) {
        isStopped = true;
        position += 1;
        continue;
      }
      const close = tokens.indexOf(end, position);
      if (close < 0) throw new FramingError('cut');
      messages.push(readMessage(tokens.slice(position, close)));
      position = close + 1;
    }
    if (messages.length === 0) throw new FramingError('no message');
    return { messages, isStopped };
  }

  return {
    stopSequences: () => [stop],
    parse(tokens): ParsedResponse {
      try {
        const { messages, isStopped } = readMessages(tokens);
        return { message: joinLast(messages), termination: isStopped ? 'stop_sequence' : 'malformed' };
      } catch (error) {
        if (!(error instanceof FramingError)) throw error;
        return { message: { role: 'assistant', content: decodeTokens(tokenizer, tokens) }, termination: 'malformed' };
      }
    },
  };
}

/** All messages must be readable; those of the last author are one message. */
function joinLast(messages: readonly TmlMessage[]): Message {
  const role = messages.at(-1)?.author ?? 'assistant';
  const parts: ContentPart[] = [];
  const toolCalls: ToolCall[] = [];
  const firstOfLast = messages.findLastIndex(({ author }) => author !== role) + 1;
  messages.forEach((message, index) => {
    const isLast = index >= firstOfLast;
    if (message.kind === 'invoke_tool_json') {
      const call = readCall(message, toolCalls.length);
      if (isLast) toolCalls.push(call);
    } else {
      const part = readPart(message);
      if (isLast) parts.push(part);
    }
  });
  const [first] = parts;
  const content = parts.length === 1 && first?.type === 'text' && toolCalls.length === 0 ? first.text : parts;
  return { role, content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}

function readPart({ author, kind, text }: TmlMessage): ContentPart {
  switch (kind) {
    case 'text':
      return { type: 'text', text };
    case 'thinking':
      return { type: 'thinking', thinking: text };
    case 'tool_error':
      if (author === 'tool') return { type: 'text', text };
      throw new FramingError('only tools have errors');
    case 'invoke_tool_text':
      throw new ValidationError({
        direction: 'response',
        subject: 'response',
        issues: [{ path: '', message: 'calls a tool with plain text, which has no form as a tool call with a name and arguments.' }],
      });
    default:
      throw new FramingError(`no ${kind} here`);
  }
}

function readCall({ name, text }: TmlMessage, index: number): ToolCall {
  const call = tryLoadJson(text);
  if (call === undefined || !isDict(call) || call.size !== 2) throw new FramingError('not a call');
  const [called, args] = [call.get('name'), call.get('args')];
  if (called !== name || args === undefined || !isDict(args)) throw new FramingError('not a call');
  return toolCall(name, dumpJson(args), `functions.${name}:${index}`);
}
