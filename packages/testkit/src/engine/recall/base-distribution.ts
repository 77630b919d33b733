import { hashText, mixBits } from '../random.js';

/** The tokens of a vocabulary fall into this many classes; those of a class have equal odds. */
export const CLASSES = 16;
const CLASS_BITS = 4;
/** The log-odds of a class lie between -0.5 and 0.5. */
const NOISE = 0.5;

/**
 * What the base model says, frozen and seeded by its name: noise. Its odds depend on the last two tokens and on the class of the next one, so they
 * differ from position to position, and yet their sum over any vocabulary takes a handful of operations. Each run of 16 ids has one token of each class.
 */
export class BaseDistribution {
  /** The number of tokens of each class. */
  readonly counts = new Float64Array(CLASSES);
  /** The log-odds of each class after the last {@link BaseDistribution.read}, and the largest of them. */
  readonly logits = new Float64Array(CLASSES);
  largest = 0;
  readonly vocabularySize: number;
  readonly #seed: number;

  constructor(name: string, vocabularySize: number) {
    this.vocabularySize = vocabularySize;
    this.#seed = hashText(name);
    const blocks = vocabularySize >>> CLASS_BITS;
    this.counts.fill(blocks);
    for (let token = blocks * CLASSES; token < vocabularySize; token++) {
      const own = this.classOf(token);
      this.counts[own] = (this.counts[own] as number) + 1;
    }
  }

  /** Sets the odds that follow a context with this key. */
  read(key: number): void {
    let largest = Number.NEGATIVE_INFINITY;
    const mix = mixBits;
    const seed = this.#seed;
    for (let index = 0; index < CLASSES; index++) {
      const logit = (mix(key ^ (seed + Math.imul(index + 1, 0x9e3779b9))) / 2 ** 32 - 0.5) * 2 * NOISE;
      this.logits[index] = logit;
      if (logit > largest) largest = logit;
    }
    this.largest = largest;
  }

  /** The class of a token. */
  classOf(token: number): number {
    return (token ^ mixBits(this.#seed ^ (token >>> CLASS_BITS))) & (CLASSES - 1);
  }

  /** The token of a class in the run of ids number `block`. In the last run it may lie outside the vocabulary. */
  member(own: number, block: number): number {
    return (block << CLASS_BITS) | ((own ^ mixBits(this.#seed ^ block)) & (CLASSES - 1));
  }
}
