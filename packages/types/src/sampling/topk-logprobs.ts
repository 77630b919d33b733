import { invalidRequest } from '../errors/validation-error.js';
import { hasKind, markKind } from '../kind.js';

const EMPTY_TOKEN = 0;
const EMPTY_LOGPROB = -99999;

/** A token and its log-probability. */
export type TokenLogprob = readonly [token: number, logprob: number];

/** The parts of {@link TopkLogprobs}. */
export interface TopkLogprobsFields {
  /** Row-major, one row per position, `k` cells per row. An empty cell is 0. */
  readonly tokenIds: Int32Array;
  /** Row-major. An empty cell is -99999. */
  readonly logprobs: Float32Array;
  /** Cells in a row. */
  readonly k: number;
  /** Rows. */
  readonly length: number;
}

/** For each position of a prompt or a sampled sequence, the most likely tokens and their log-probabilities. */
export class TopkLogprobs implements TopkLogprobsFields {
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly k: number;
  readonly length: number;

  /** Throws a `ValidationError` when the arrays do not hold `length × k` cells. */
  constructor({ tokenIds, logprobs, k, length }: TopkLogprobsFields) {
    const cells = k * length;
    for (const [name, count] of [
      ['tokenIds', tokenIds.length],
      ['logprobs', logprobs.length],
    ] as const) {
      if (count !== cells) throw invalidRequest('TopkLogprobs', name, `must hold length × k = ${cells} values, got ${count}`);
    }
    this.tokenIds = tokenIds;
    this.logprobs = logprobs;
    this.k = k;
    this.length = length;
  }

  /** The matrices of a list with one entry per position: null where nothing was computed, else pairs, most likely first. */
  static fromList(rows: readonly (readonly TokenLogprob[] | null)[]): TopkLogprobs {
    // One cell even where nothing was computed (a prompt of one token): without any, the number of positions would be lost.
    const k = rows.reduce((longest, row) => Math.max(longest, row?.length ?? 1), 0);
    const tokenIds = new Int32Array(rows.length * k);
    const logprobs = new Float32Array(rows.length * k).fill(EMPTY_LOGPROB);
    rows.forEach((row, position) => {
      row?.forEach(([token, logprob], rank) => {
        tokenIds[position * k + rank] = token;
        logprobs[position * k + rank] = logprob;
      });
    });
    return new TopkLogprobs({ tokenIds, logprobs, k, length: rows.length });
  }

  /** True for an object from any copy of this package. */
  static isInstance(value: unknown): value is TopkLogprobs {
    return hasKind(value, 'TopkLogprobs');
  }

  /**
   * One entry per position: null when its first cell is empty (not computed), else its pairs without the empty cells at the end.
   */
  toList(): ([token: number, logprob: number][] | null)[] {
    // Without cells the length may still be false; there is nothing to list.
    if (this.k === 0) return [];
    return Array.from({ length: this.length }, (_, position) => {
      const start = position * this.k;
      let end = start + this.k;
      if (this.#isEmpty(start)) return null;
      while (this.#isEmpty(end - 1)) end -= 1;
      return Array.from({ length: end - start }, (_cell, rank): [number, number] => [
        this.tokenIds[start + rank] as number,
        this.logprobs[start + rank] as number,
      ]);
    });
  }

  /** What `JSON.stringify` writes: {@link TopkLogprobs.toList}. */
  toJSON(): ([token: number, logprob: number][] | null)[] {
    return this.toList();
  }

  #isEmpty(cell: number): boolean {
    return this.tokenIds[cell] === EMPTY_TOKEN && this.logprobs[cell] === EMPTY_LOGPROB;
  }
}

markKind(TopkLogprobs, 'TopkLogprobs');
