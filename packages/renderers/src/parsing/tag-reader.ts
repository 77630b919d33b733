import type { ResponseDelta } from '../core/renderer.js';
import type { DeltaReader, ToolMarkers } from './response-format.js';

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

/**
 * Separates thinking, tool calls and text by their tags. The end of the text is held back while it may be the beginning of a tag. Tags are not shown,
 * tool calls neither; a tool call that is never closed is shown as text in the end.
 */
export class TagReader implements DeltaReader {
  readonly #toolMarkers: readonly ToolMarkers[];
  readonly #thinks: boolean;
  #state: 'text' | 'thinking' | ToolMarkers = 'text';
  #held = '';
  #contentIndex = 0;

  constructor(toolMarkers: readonly ToolMarkers[], thinks: boolean) {
    this.#toolMarkers = toolMarkers;
    this.#thinks = thinks;
  }

  push(text: string): ResponseDelta[] {
    this.#held += text;
    const deltas: ResponseDelta[] = [];
    while (this.#step(deltas));
    return deltas;
  }

  finish(): ResponseDelta[] {
    const rest = this.#held;
    const isCall = typeof this.#state === 'object';
    this.#held = '';
    return this.#delta(isCall ? `${(this.#state as ToolMarkers).open}${rest}` : rest);
  }

  /** Shows what is certain and enters the next block; false when it takes more text. */
  #step(deltas: ResponseDelta[]): boolean {
    const tags = this.#tags();
    const found = firstOf(this.#held, tags);
    const end = found?.index ?? this.#held.length - Math.max(0, ...tags.map((tag) => partialTagLength(this.#held, tag)));
    if (typeof this.#state !== 'object') {
      deltas.push(...this.#delta(this.#held.slice(0, end)));
      this.#held = this.#held.slice(end);
    }
    if (found === undefined) return false;
    this.#held = this.#held.slice(typeof this.#state === 'object' ? found.index + found.tag.length : found.tag.length);
    this.#enter(found.tag);
    return true;
  }

  #tags(): string[] {
    if (this.#state === 'thinking') return [THINK_CLOSE];
    if (this.#state === 'text') return [...(this.#thinks ? [THINK_OPEN] : []), ...this.#toolMarkers.map(({ open }) => open)];
    return [this.#state.close];
  }

  #enter(tag: string): void {
    if (tag === THINK_OPEN || tag === THINK_CLOSE) this.#contentIndex += 1;
    this.#state = tag === THINK_OPEN ? 'thinking' : (this.#toolMarkers.find(({ open }) => open === tag) ?? 'text');
  }

  #delta(text: string): ResponseDelta[] {
    if (text === '') return [];
    const contentIndex = this.#contentIndex;
    return [this.#state === 'thinking' ? { type: 'thinking', thinking: text, contentIndex } : { type: 'text', text, contentIndex }];
  }
}

function firstOf(text: string, tags: readonly string[]): { readonly tag: string; readonly index: number } | undefined {
  return tags
    .map((tag) => ({ tag, index: text.indexOf(tag) }))
    .filter(({ index }) => index >= 0)
    .sort((left, right) => left.index - right.index)[0];
}

/** How many characters at the end of `text` are the beginning of `tag`, but not all of it. */
export function partialTagLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
