import type { ResponseDelta } from '../core/renderer.js';
import type { DeltaReader } from './response-format.js';
import { partialTagLength } from './tag-reader.js';

/** What stands between the header of a message and its body. */
export const HARMONY_MESSAGE = '<|message|>';
/** What ends a message. */
export const HARMONY_END = /<\|end\|>|<\|call\|>|<\|return\|>/;
const END_TAGS = ['<|end|>', '<|call|>', '<|return|>'];

/** What a message of the Harmony format is. Channels that are not shown are `other`. */
type HarmonyKind = 'thinking' | 'text' | 'call' | 'other';

/** Reads the header of a Harmony message: its channel, and the tool it is for. */
export function readHarmonyHeader(header: string): { readonly kind: HarmonyKind; readonly name: string } {
  const [, channel] = /<\|channel\|>([^<\s]+)/.exec(header) ?? [];
  const [, name] = /to=functions\.([^\s<]+)/.exec(header) ?? [];
  if (name !== undefined) return { kind: 'call', name };
  if (channel === 'analysis') return { kind: 'thinking', name: '' };
  return { kind: channel === 'final' || channel === 'commentary' ? 'text' : 'other', name: '' };
}

/** Shows the bodies of Harmony messages while they arrive. Calls are left out, or shown as text. Text that belongs to no message is shown in the end. */
export class HarmonyReader implements DeltaReader {
  readonly #showsCalls: boolean;
  #kind: HarmonyKind | undefined;
  #held = '';
  #contentIndex = -1;

  constructor(showsCalls: boolean) {
    this.#showsCalls = showsCalls;
  }

  push(text: string): ResponseDelta[] {
    this.#held += text;
    const deltas: ResponseDelta[] = [];
    while (this.#kind === undefined ? this.#readHeader() : this.#readBody(deltas));
    return deltas;
  }

  finish(): ResponseDelta[] {
    const rest = this.#held;
    this.#held = '';
    if (this.#kind !== undefined) return this.#delta(rest);
    this.#kind = 'text';
    this.#contentIndex += 1;
    return this.#delta(rest);
  }

  /** Enters the next message; false when its header is not complete. */
  #readHeader(): boolean {
    const end = this.#held.indexOf(HARMONY_MESSAGE);
    if (end < 0) return false;
    this.#kind = readHarmonyHeader(this.#held.slice(0, end)).kind;
    this.#contentIndex += 1;
    this.#held = this.#held.slice(end + HARMONY_MESSAGE.length);
    return true;
  }

  /** Shows what certainly belongs to the body; false when it takes more text. */
  #readBody(deltas: ResponseDelta[]): boolean {
    const end = HARMONY_END.exec(this.#held);
    const shown = end?.index ?? this.#held.length - Math.max(...END_TAGS.map((tag) => partialTagLength(this.#held, tag)));
    deltas.push(...this.#delta(this.#held.slice(0, shown)));
    this.#held = this.#held.slice(shown + (end?.[0].length ?? 0));
    if (end === null) return false;
    this.#kind = undefined;
    return true;
  }

  #delta(text: string): ResponseDelta[] {
    const isHidden = this.#kind === 'other' || (this.#kind === 'call' && !this.#showsCalls);
    if (text === '' || isHidden) return [];
    const contentIndex = this.#contentIndex;
    return [this.#kind === 'thinking' ? { type: 'thinking', thinking: text, contentIndex } : { type: 'text', text, contentIndex }];
  }
}
