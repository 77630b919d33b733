import { createHash } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.js';

/** Generates ids as the dialect does. The same order of requests gives the same ids. */
export class IdMaker {
  readonly #style: Dialect['ids'];
  #count = 0;

  constructor(style: Dialect['ids']) {
    this.#style = style;
  }

  /** How many ids were counted; restore it after a restart. */
  get count(): number {
    return this.#count;
  }

  /** Continues the count from before a restart. */
  restore(count: number): void {
    this.#count = count;
  }

  session(): string {
    const number = ++this.#count;
    return this.#style === 'tinker' ? `sess-${number.toString(36).padStart(4, '0')}` : this.#plain(`session ${number}`, number);
  }

  model(sessionId: string, modelSeqId: number): string {
    return this.#owned(sessionId, 'train', modelSeqId);
  }

  sampler(sessionId: string, samplingSessionSeqId: number): string {
    return this.#owned(sessionId, 'sample', samplingSessionSeqId);
  }

  customLoss(sessionId: string, customLossSeqId: number): string {
    return this.#owned(sessionId, 'loss', customLossSeqId);
  }

  /** The id of an operation's future. Depends only on the owner and the sequence ID, except in the `number` style. */
  request(ownerId: string, seq: string): string {
    return this.#style === 'tinker' ? `${ownerId}:req:${seq}` : this.#plain(`${ownerId} ${seq}`, ++this.#count);
  }

  #owned(sessionId: string, kind: string, seq: number): string {
    return this.#style === 'tinker' ? `${sessionId}:${kind}:${seq}` : this.#plain(`${sessionId} ${kind} ${seq}`, ++this.#count);
  }

  #plain(text: string, number: number): string {
    if (this.#style === 'number') return String(number);
    const hex = createHash('sha1').update(text).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}
