import { isBlank } from '../core/python-text.js';
import type { ParsedResponse } from '../core/renderer.js';
import { decodeTokens } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import type { ContentPart } from '../messages/message.js';
import { HARMONY_END, HARMONY_MESSAGE, HarmonyReader, readHarmonyHeader } from '../parsing/harmony-reader.js';
import type { ParsedText, ResponseFormat } from '../parsing/response-format.js';
import { assistantMessage, requireToken, tooManyStops } from '../parsing/stop-token-format.js';
import { countOf, readToolCall, type ToolCallResults, verbatimToolCall } from '../parsing/tool-calls.js';

const STOPS = ['<|return|>', '<|call|>'] as const;
const START = '<|start|>';
const CALL_HEADER = 'to=functions.';

/** Reads Harmony responses: one message after the other, each with a channel. */
export function harmonyResponse(tokenizer: RendererTokenizer): ResponseFormat {
  const stops = STOPS.map((token) => requireToken(tokenizer, token));

  function parsePartial(tokens: readonly number[]): ParsedResponse {
    const end = tokens.findIndex((token) => stops.includes(token));
    const text = decodeTokens(tokenizer, end < 0 ? tokens : tokens.slice(0, end));
    return { message: assistantMessage(parseHarmony(text)), termination: end < 0 ? 'malformed' : 'stop_sequence' };
  }

  return {
    stopSequences: () => [...stops],
    parse(tokens) {
      for (const stop of stops) {
        const count = tokens.filter((token) => token === stop).length;
        if (count > 1) throw tooManyStops(count, STOPS);
      }
      if (tokens.some((token) => stops.includes(token))) return parsePartial(tokens);
      return { message: { role: 'assistant', content: decodeTokens(tokenizer, tokens) }, termination: 'malformed' };
    },
    stream: {
      stopTokens: stops,
      opensThinking: false,
      openingTokens: [],
      createReader: (showsCalls) => new HarmonyReader(showsCalls),
      parsePartial,
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
    const bodyStart = text.indexOf(HARMONY_MESSAGE, position);
    if (bodyStart < 0) return messages;
    const headerStart = Math.max(position, text.lastIndexOf(START, bodyStart));
    const rest = text.slice(bodyStart + HARMONY_MESSAGE.length);
    const end = HARMONY_END.exec(rest);
    const next = bodyStart + HARMONY_MESSAGE.length + (end === null ? rest.length : end.index + end[0].length);
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
  const { kind, name } = readHarmonyHeader(header);
  if (kind === 'call') readToolCall(results, rawText, () => verbatimToolCall(name, body));
  else if (kind === 'thinking') parts.push({ type: 'thinking', thinking: body });
  else if (kind === 'text') parts.push({ type: 'text', text: body });
}
