import type { RendererTokenizer } from '@tinkex/renderers';
import type { SamplingParams } from '@tinkex/types';

/** Turns sampled tokens into text as they come: never half a character, and nothing of a stop text. */
export class TextReader {
  readonly #tokenizer: RendererTokenizer;
  readonly #stops: readonly string[];
  #tokens: number[] = [];
  #given = 0;

  constructor(tokenizer: RendererTokenizer, stop: SamplingParams['stop']) {
    this.#tokenizer = tokenizer;
    this.#stops = [stop ?? []].flat().filter((one) => typeof one === 'string');
  }

  /** How many characters have been given out. */
  get length(): number {
    return this.#given;
  }

  /** What these tokens add. Text that may be the beginning of a stop text, or half a character, waits until more comes or the sample ends. */
  push(tokens: Int32Array, isLast: boolean): string {
    this.#tokens = this.#tokens.concat(Array.from(tokens));
    const text = this.#tokenizer.decode(this.#tokens, { skipSpecialTokens: true });
    const places = this.#stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
    const end = places.length > 0 ? Math.min(...places) : text.length - (isLast ? 0 : this.#heldBack(text));
    const added = text.slice(this.#given, Math.max(end, this.#given));
    this.#given += added.length;
    return added;
  }

  #heldBack(text: string): number {
    const half = text.length - text.replace(/\uFFFD+$/, '').length;
    const longest = Math.max(0, ...this.#stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, text.length); length > half; length -= 1) {
      if (this.#stops.some((stop) => stop.startsWith(text.slice(-length)))) return length;
    }
    return half;
  }
}
