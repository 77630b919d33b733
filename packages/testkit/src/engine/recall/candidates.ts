import { MAX_VOCABULARY } from './geometry.js';

/** Where each token is among the candidates. Shared by all sets: a place counts only if the token is really there. */
const PLACES = new Int32Array(MAX_VOCABULARY);
const FIRST_CAPACITY = 256;

/** The tokens that something speaks for at one position, with their scores. */
export class Candidates {
  count = 0;
  tokens: Int32Array = new Int32Array(FIRST_CAPACITY);
  /** What speaks for the token in this context. */
  scores: Float64Array = new Float64Array(FIRST_CAPACITY);
  /** The score with the base odds and the weight of the token, and `exp(logit - shift)`. */
  logits: Float64Array = new Float64Array(FIRST_CAPACITY);
  exponentials: Float64Array = new Float64Array(FIRST_CAPACITY);

  /** Empties the set. */
  clear(): void {
    this.count = 0;
  }

  /** The place of a token, or -1. */
  find(token: number): number {
    const place = PLACES[token] as number;
    return place < this.count && this.tokens[place] === token ? place : -1;
  }

  /** Adds `score` to the score of a token. Returns where the token is. */
  add(token: number, score: number): number {
    const found = PLACES[token] as number;
    if (found < this.count && this.tokens[found] === token) {
      this.scores[found] = (this.scores[found] as number) + score;
      return found;
    }
    const place = this.count++;
    if (place === this.tokens.length) this.#grow();
    PLACES[token] = place;
    this.tokens[place] = token;
    this.scores[place] = score;
    return place;
  }

  #grow(): void {
    const length = 2 * this.tokens.length;
    const { tokens, scores, logits, exponentials } = this;
    this.tokens = new Int32Array(length);
    this.tokens.set(tokens);
    this.scores = enlarged(scores, length);
    this.logits = enlarged(logits, length);
    this.exponentials = enlarged(exponentials, length);
  }
}

function enlarged(values: Float64Array, length: number): Float64Array {
  const result = new Float64Array(length);
  result.set(values);
  return result;
}
