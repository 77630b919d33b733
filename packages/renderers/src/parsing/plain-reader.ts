import type { ResponseDelta } from '../core/renderer.js';
import type { DeltaReader } from './response-format.js';
import { partialTagLength } from './tag-reader.js';

/** What surrounds a plain text. */
export interface PlainTextFrame {
  /** Ends the text; neither it nor what follows is shown. */
  readonly stop: string;
  /** Left out where the text begins with it. */
  readonly before: string;
  /** Left out where the text ends with it. */
  readonly after: string;
}

/** Shows a text without markup while it arrives. What may turn out to be a part of its frame is held back. */
export class PlainReader implements DeltaReader {
  readonly #frame: PlainTextFrame;
  #held = '';
  #hasBegun = false;
  #isStopped = false;

  constructor(frame: PlainTextFrame) {
    this.#frame = frame;
  }

  push(text: string): ResponseDelta[] {
    if (this.#isStopped) return [];
    const { stop, before, after } = this.#frame;
    this.#held += text;
    if (!this.#hasBegun) {
      if (this.#held.length < before.length) return [];
      if (this.#held.startsWith(before)) this.#held = this.#held.slice(before.length);
      this.#hasBegun = true;
    }
    const end = this.#held.indexOf(stop);
    if (end >= 0) {
      this.#held = this.#held.slice(0, end);
      return this.finish();
    }
    const certain = this.#held.slice(0, this.#held.length - partialTagLength(this.#held, stop));
    const padding = certain.endsWith(after) ? after.length : partialTagLength(certain, after);
    return this.#show(certain.length - padding);
  }

  finish(): ResponseDelta[] {
    if (this.#isStopped) return [];
    this.#isStopped = true;
    const { after } = this.#frame;
    return this.#show(this.#held.endsWith(after) ? this.#held.length - after.length : this.#held.length);
  }

  #show(length: number): ResponseDelta[] {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text === '' ? [] : [{ type: 'text', text, contentIndex: 0 }];
  }
}
