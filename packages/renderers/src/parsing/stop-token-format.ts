import { ConfigurationError, ValidationError } from '@tinkex/types';
import type { ParsedResponse, Termination } from '../core/renderer.js';
import { decodeTokens } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import type { Message } from '../messages/message.js';
import type { ParsedText, ResponseFormat, ToolMarkers } from './response-format.js';
import { TagReader } from './tag-reader.js';

/** A response that ends with a special token. */
export interface StopTokenFormatOptions {
  readonly tokenizer: RendererTokenizer;
  /** The tokens that end a response, and how. */
  readonly stops: Readonly<Record<string, Termination>>;
  /** What the prompt may have opened thinking with. A response that closes thinking without opening it gets this in front. */
  readonly opening?: string | undefined;
  /** Whether the model thinks in `<think>` tags. Default true. */
  readonly thinks?: boolean | undefined;
  /** Whether the renderer's prompts end inside a thinking block. Default false. */
  readonly opensThinking?: boolean | undefined;
  readonly toolMarkers?: readonly ToolMarkers[] | undefined;
  /** Reads the text before the stop token. */
  parseText(text: string): ParsedText;
}

/** The format of all families whose responses end with a stop token. */
export function stopTokenFormat(options: StopTokenFormatOptions): ResponseFormat {
  const { tokenizer, stops, opening, thinks = true, opensThinking = false, toolMarkers = [], parseText } = options;
  const terminations = new Map(Object.entries(stops).map(([token, termination]) => [requireToken(tokenizer, token), termination]));
  const stopTokens = [...terminations.keys()];
  const openingTokens = opening === undefined ? [] : Array.from(tokenizer.encode(opening));
  const closingToken = opening === undefined ? undefined : tokenizer.tokenId('</think>');

  function reopenThinking(tokens: readonly number[]): readonly number[] {
    const isOpen = openingTokens.every((token, index) => tokens[index] === token);
    return isOpen || closingToken === undefined || !tokens.includes(closingToken) ? tokens : [...openingTokens, ...tokens];
  }

  function parsePartial(tokens: readonly number[]): ParsedResponse {
    const end = tokens.findIndex((token) => terminations.has(token));
    const body = reopenThinking(end < 0 ? tokens : tokens.slice(0, end));
    return {
      message: assistantMessage(parseText(decodeTokens(tokenizer, body))),
      termination: terminations.get(tokens[end] as number) ?? 'malformed',
    };
  }

  return {
    stopSequences: () => [...stopTokens],
    parse(tokens) {
      const stopCount = tokens.filter((token) => terminations.has(token)).length;
      if (stopCount === 1) return parsePartial(reopenThinking(tokens));
      if (stopCount > 1) throw tooManyStops(stopCount, Object.keys(stops));
      const text = decodeTokens(tokenizer, reopenThinking(tokens));
      return { message: { role: 'assistant', content: text }, termination: 'malformed' };
    },
    stream: {
      stopTokens,
      opensThinking,
      openingTokens,
      createReader: (showsCalls) => new TagReader(showsCalls ? [] : toolMarkers, thinks),
      parsePartial,
    },
  };
}

/** A parsed text as a message. Fields without entries are left out. */
export function assistantMessage({ content, toolCalls = [], unparsedToolCalls = [] }: ParsedText): Message {
  return {
    role: 'assistant',
    content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(unparsedToolCalls.length === 0 ? {} : { unparsedToolCalls }),
  };
}

/** The id of a token that the template cannot do without. */
export function requireToken(tokenizer: RendererTokenizer, token: string): number {
  const id = tokenizer.tokenId(token);
  if (id !== undefined) return id;
  throw new ConfigurationError({
    option: 'tokenizer',
    message: `The tokenizer has no token ${token}, so it does not belong to this renderer. Pass the tokenizer of the model.`,
  });
}

/** The error for a response with more than one stop token: sampling ends at the first. */
export function tooManyStops(count: number, stops: readonly string[]): ValidationError {
  return new ValidationError({
    direction: 'response',
    subject: 'response tokens',
    issues: [
      { path: '', message: `contain ${count} stop tokens (${stops.join(', ')}); pass one response, up to and including its stop token.` },
    ],
  });
}
