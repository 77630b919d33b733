import { ConfigurationError, type SamplingParams } from '@tinkex/types';
import type { Message } from '../messages/message.js';

type Stop = NonNullable<SamplingParams['stop']>;

/** How a response ends: at the stop sequences of the request, and at texts that are searched for in the answer. */
export interface StopRules {
  /** For the sampler. */
  readonly stop: readonly string[] | readonly number[];
  /** Texts of the caller. They end the answer and are not part of it. */
  readonly texts: readonly string[];
  /** Tokens of the caller. They end the answer and are not part of it. */
  readonly tokens: readonly number[];
}

/**
 * Joins the stop sequences of a renderer with those of the caller. A request takes either tokens or texts. Where the renderer stops at tokens, as nearly all do, the
 * caller's texts are therefore found in the answer instead.
 *
 * Throws a `ConfigurationError` for tokens of the caller with a renderer that stops at texts.
 */
export function joinStops(ofRenderer: readonly string[] | readonly number[], ofCaller: Stop | undefined): StopRules {
  const list = typeof ofCaller === 'string' ? [ofCaller] : (ofCaller ?? []);
  const texts = list.filter((one) => typeof one === 'string');
  const tokens = list.filter((one) => typeof one === 'number');
  const rendererTexts = ofRenderer.filter((one) => typeof one === 'string');
  const rendererTokens = ofRenderer.filter((one) => typeof one === 'number');
  if (rendererTexts.length === 0) return { stop: [...rendererTokens, ...tokens], texts, tokens };
  if (tokens.length > 0) {
    const message = 'This renderer stops at texts, so samplingParams.stop must be texts too, not token IDs.';
    throw new ConfigurationError({ option: 'samplingParams.stop', message });
  }
  return { stop: [...rendererTexts, ...texts], texts, tokens };
}

/** The first stop text in a text, and where it begins. Undefined if there is none. */
function findStopText(text: string, stops: readonly string[]): { readonly place: number; readonly stopText: string } | undefined {
  return stops
    .map((stopText) => ({ place: text.indexOf(stopText), stopText }))
    .filter(({ place }) => place >= 0)
    .sort((one, other) => one.place - other.place)[0];
}

/** A message that ends before a stop text. */
export interface CutMessage {
  readonly message: Message;
  readonly stopText: string;
}

/** The message up to the first stop text in what it says (not in what it thinks), or undefined if there is none. Tool calls come after the text, so they go. */
export function cutAtStopText(message: Message, stops: readonly string[]): CutMessage | undefined {
  const { toolCalls: _calls, unparsedToolCalls: _unparsed, ...rest } = message;
  if (typeof message.content === 'string') {
    const found = findStopText(message.content, stops);
    return found && { message: { ...rest, content: message.content.slice(0, found.place) }, stopText: found.stopText };
  }
  for (const [index, part] of message.content.entries()) {
    const found = part.type === 'text' ? findStopText(part.text, stops) : undefined;
    if (part.type !== 'text' || found === undefined) continue;
    const { place, stopText } = found;
    const before = message.content.slice(0, index);
    return {
      message: { ...rest, content: place === 0 ? before : [...before, { type: 'text', text: part.text.slice(0, place) }] },
      stopText,
    };
  }
  return undefined;
}

/** Passes text on until a stop text comes. Holds back what may be the beginning of one. */
export class StopTextFilter {
  readonly #stops: readonly string[];
  #pending = '';
  #isStopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop text has come. From then on nothing is passed on. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  push(text: string): string {
    if (this.#isStopped) return '';
    const all = this.#pending + text;
    const found = findStopText(all, this.#stops);
    this.#isStopped = found !== undefined;
    const end = found?.place ?? all.length - this.#heldBack(all);
    this.#pending = this.#isStopped ? '' : all.slice(end);
    return all.slice(0, end);
  }

  /** What was held back: no more text comes. */
  flush(): string {
    const rest = this.#pending;
    this.#pending = '';
    return rest;
  }

  /** The length of the longest end of `text` with which a stop text begins. */
  #heldBack(text: string): number {
    const longest = Math.max(0, ...this.#stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
      if (this.#stops.some((stop) => stop.startsWith(text.slice(-length)))) return length;
    }
    return 0;
  }
}
