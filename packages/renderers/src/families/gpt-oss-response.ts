import { isBlank } from '../core/python-text.js';
import { decodeTokens } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import type { ContentPart } from '../messages/message.js';
import type { ParsedText, ResponseFormat } from '../parsing/response-format.js';
import { assistantMessage, requireToken, tooManyStops } from '../parsing/stop-token-format.js';
import { countOf, readToolCall, type ToolCallResults, verbatimToolCall } from '../parsing/tool-calls.js';

const STOPS = ['<|return|>', '<|call|>'] as const;
const START = '<|start|>';
const MESSAGE = '<|message|>';
const END = /<\|end\|>|<\|call\|>|<\|return\|>/;
const CALL_HEADER = 'to=functions.';

/** Reads Harmony responses: one message after the other, each with a channel. */
export function harmonyResponse(tokenizer: RendererTokenizer): ResponseFormat {
  const stops = STOPS.map((token) => requireToken(tokenizer, token));
  return {
    stopSequences: () => [...stops],
    parse(tokens) {
      for (const stop of stops) {
        const count = tokens.filter((token) => token === stop).length;
        if (count > 1) throw tooManyStops(count, STOPS);
      }
      const end = tokens.findIndex((token) => stops.includes(token));
      if (end < 0) return { message: { role: 'assistant', content: decodeTokens(tokenizer, tokens) }, termination: 'malformed' };
      return { message: assistantMessage(parseHarmony(decodeTokens(tokenizer, tokens.slice(0, end)))), termination: 'stop_sequence' };
    },
  };
}

function parseHarmony(text: string): ParsedText {
  const parts: ContentPart[] = [];
  const results: ToolCallResults = { toolCalls: [], unparsedToolCalls: [] };
  for (const message of splitMessages(text)) readMessage(message, parts, results);
  const found = results.toolCalls.length + results.unparsedToolCalls.length;
  if (countOf(text, CALL_HEADER) > found) {
    results.unparsedToolCalls.push({
      rawText: text.slice(Math.max(0, text.lastIndexOf(START))),
      error: `unterminated tool block: '${CALL_HEADER}' tool-call header without a parsable arguments payload`,
    });
  }
  return { content: parts.length === 0 ? text : parts, ...results };
}

interface HarmonyMessage {
  readonly header: string;
  readonly body: string;
  readonly rawText: string;
}

function splitMessages(text: string): HarmonyMessage[] {
  const messages: HarmonyMessage[] = [];
  let position = 0;
  for (;;) {
    const bodyStart = text.indexOf(MESSAGE, position);
    if (bodyStart < 0) return messages;
    const headerStart = Math.max(position, text.lastIndexOf(START, bodyStart));
    const rest = text.slice(bodyStart + MESSAGE.length);
    const end = END.exec(rest);
    const next = bodyStart + MESSAGE.length + (end === null ? rest.length : end.index + end[0].length);
    messages.push({
      header: text.slice(headerStart, bodyStart),
      body: end === null ? rest : rest.slice(0, end.index),
      rawText: text.slice(headerStart, next),
    });
    position = next;
  }
}

function readMessage({ header, body, rawText }: HarmonyMessage, parts: ContentPart[], results: ToolCallResults): void {
  if (isBlank(body)) return;
  const [, channel] = /<\|channel\|>([^<\s]+)/.exec(header) ?? [];
  const [, name] = /to=functions\.([^\s<]+)/.exec(header) ?? [];
  if (name !== undefined) readToolCall(results, rawText, () => verbatimToolCall(name, body));
  else if (channel === 'analysis') parts.push({ type: 'thinking', thinking: body });
  else if (channel === 'final' || channel === 'commentary') parts.push({ type: 'text', text: body });
}
