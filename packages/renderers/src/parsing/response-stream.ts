import type { FinishedResponse, ResponseDelta, ResponseStream, StreamOptions } from '../core/renderer.js';
import { TokenText } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { ensureParts } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import type { DeltaReader, ResponseFormat, StreamFormat } from './response-format.js';

/** Shows text and thinking while they arrive. */
export class TokenStream implements ResponseStream {
  readonly #format: StreamFormat;
  readonly #text: TokenText;
  readonly #reader: DeltaReader;
  readonly #parsesCalls: boolean;
  readonly #tokens: number[] = [];
  #isOpening: boolean;
  #hasHeader = false;
  #isStopped = false;
  /** A final token that may turn out to be text. */
  readonly #held: number[] = [];

  constructor(format: StreamFormat, tokenizer: RendererTokenizer, { thinkingPrefilled, toolCalls = 'parsed' }: StreamOptions) {
    this.#format = format;
    this.#text = new TokenText(tokenizer);
    this.#parsesCalls = toolCalls === 'parsed';
    this.#reader = format.createReader(toolCalls === 'text');
    this.#isOpening = thinkingPrefilled ?? format.opensThinking;
  }

  push(tokens: ArrayLike<number>): ResponseDelta[] {
    const deltas: ResponseDelta[] = [];
    if (this.#isOpening && tokens.length > 0) {
      this.#isOpening = false;
      // A model that opens thinking itself, although the prompt did, thinks once.
      if (tokens[0] !== this.#format.openingTokens[0]) deltas.push(...this.#feed(this.#format.openingTokens));
    }
    const said: number[] = [];
    for (const token of Array.from(tokens)) {
      if (this.#isStopped) break;
      this.#tokens.push(token);
      said.push(...this.#held.splice(0));
      this.#isStopped = this.#format.stopTokens.includes(token);
      if (token === this.#format.finalToken) this.#held.push(token);
      else if (!this.#isStopped) said.push(token);
    }
    // All at the same time: one delta for what came together, and not one for each token.
    return [...deltas, ...this.#feed(said)];
  }

  finish(): FinishedResponse {
    const deltas = [...this.#withHeader(this.#reader.push(this.#text.flush())), ...this.#reader.finish()];
    const { message, termination } = this.#format.parsePartial(this.#tokens);
    if (this.#parsesCalls) deltas.push(...toolCallDeltas(message));
    return { deltas, message, termination };
  }

  #feed(tokens: readonly number[]): ResponseDelta[] {
    const text = this.#text.push(tokens);
    return text === '' ? [] : this.#withHeader(this.#reader.push(text));
  }

  #withHeader(deltas: readonly ResponseDelta[]): ResponseDelta[] {
    if (this.#hasHeader) return [...deltas];
    this.#hasHeader = true;
    return [{ type: 'header', role: 'assistant' }, ...deltas];
  }
}

/** Gives everything when the response is finished, where it cannot be understood earlier. */
export class BufferedStream implements ResponseStream {
  readonly #format: ResponseFormat;
  readonly #tokens: number[] = [];
  #isStopped = false;

  constructor(format: ResponseFormat) {
    this.#format = format;
  }

  push(tokens: ArrayLike<number>): ResponseDelta[] {
    const stops: readonly (number | string)[] = this.#format.stopSequences();
    for (const token of Array.from(tokens)) {
      if (this.#isStopped) break;
      this.#tokens.push(token);
      this.#isStopped = stops.includes(token);
    }
    return [];
  }

  finish(): FinishedResponse {
    const { message, termination } = this.#format.parse(this.#tokens);
    const deltas: ResponseDelta[] = [{ type: 'header', role: message.role }];
    ensureParts(message.content).forEach((part, contentIndex) => {
      if (part.type === 'text' && part.text !== '') deltas.push({ type: 'text', text: part.text, contentIndex });
      if (part.type === 'thinking') deltas.push({ type: 'thinking', thinking: part.thinking, contentIndex });
    });
    return { deltas: [...deltas, ...toolCallDeltas(message)], message, termination };
  }
}

function toolCallDeltas({ toolCalls = [] }: Message): ResponseDelta[] {
  return toolCalls.map((toolCall) => ({ type: 'toolCall', toolCall }));
}
