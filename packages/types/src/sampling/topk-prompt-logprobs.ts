import { invalidRequest } from '../errors/validation-error.js';
import { hasKind, markKind } from '../kind.js';

const EMPTY_TOKEN = 0;
const EMPTY_LOGPROB = -99999;

/** A token and its log-probability. */
export type TokenLogprob = readonly [token: number, logprob: number];

/** What {@link TopkPromptLogprobs} is made of. */
export interface TopkPromptLogprobsFields {
  /** Row-major, one row per position of the prompt, `k` cells a row. An empty cell is 0. */
  readonly tokenIds: Int32Array;
  /** Row-major. An empty cell is -99999. */
  readonly logprobs: Float32Array;
  /** Cells in a row. */
  readonly k: number;
  /** Rows. */
  readonly promptLength: number;
}

/** For each position of a prompt, the most likely tokens and their log-probabilities. */
export class TopkPromptLogprobs implements TopkPromptLogprobsFields {
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly k: number;
  readonly promptLength: number;

  /** Throws a `ValidationError` when the arrays do not hold `promptLength × k` cells. */
  constructor({ tokenIds, logprobs, k, promptLength }: TopkPromptLogprobsFields) {
    const cells = k * promptLength;
    for (const [name, length] of [
      ['tokenIds', tokenIds.length],
      ['logprobs', logprobs.length],
    ] as const) {
      if (length !== cells) throw invalidRequest('TopkPromptLogprobs', name, `must hold promptLength × k = ${cells} values, got ${length}`);
    }
    this.tokenIds = tokenIds;
    this.logprobs = logprobs;
    this.k = k;
    this.promptLength = promptLength;
  }

  /** The matrices of a list with one entry per position: null where nothing was computed, else pairs, most likely first. */
  static fromList(rows: readonly (readonly TokenLogprob[] | null)[]): TopkPromptLogprobs {
    // One cell even where nothing was computed at all (a prompt of one token): without any, the positions could not be told any more.
    const k = rows.reduce((longest, row) => Math.max(longest, row?.length ?? 1), 0);
    const tokenIds = new Int32Array(rows.length * k);
    const logprobs = new Float32Array(rows.length * k).fill(EMPTY_LOGPROB);
    rows.forEach((row, position) => {
      row?.forEach(([token, logprob], rank) => {
        tokenIds[position * k + rank] = token;
        logprobs[position * k + rank] = logprob;
      });
    });
    return new TopkPromptLogprobs({ tokenIds, logprobs, k, promptLength: rows.length });
  }

  /** True for an object from any copy of this package. */
  static isInstance(value: unknown): value is TopkPromptLogprobs {
    return hasKind(value, 'TopkPromptLogprobs');
  }

  /**
   * One entry per position: null when its first cell is empty (not computed), else its pairs without the empty cells at the end.
   */
  toList(): ([token: number, logprob: number][] | null)[] {
    // Without cells there may still be a length that lies; there is nothing to list then.
    if (this.k === 0) return [];
    return Array.from({ length: this.promptLength }, (_, position) => {
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

  #isEmpty(cell: number): boolean {
    return this.tokenIds[cell] === EMPTY_TOKEN && this.logprobs[cell] === EMPTY_LOGPROB;
  }
}

markKind(TopkPromptLogprobs, 'TopkPromptLogprobs');
