import type { RandomStream } from '../random.js';
import type { ChoiceSettings } from '../token-choice.js';
import type { TokenScorer } from '../token-scorer.js';
import { type BaseDistribution, CLASSES } from './base-distribution.js';
import { Candidates } from './candidates.js';
import { ContextReader } from './context-reader.js';
import { COPY_SCALE, GATED_COPY_SCALE, KEY_SCALES, TOKEN_BOUND, TOKEN_SCALE } from './geometry.js';
import type { RecallAdapter } from './recall-adapter.js';
import { drawToken, likelyTokens, type TokenOdds, temperedLogprob } from './token-draw.js';

/** The least that a token can weigh if nothing speaks for it, before the base odds. */
const LEAST_WEIGHT = Math.exp(-TOKEN_BOUND);

/**
 * Base distribution plus an optional adapter. The tokens that something speaks for are scored one by one; all others follow the base distribution and
 * their own weight, and only their sum is needed. Together they are a proper distribution over the whole vocabulary, whatever its size.
 *
 * Training and sampling call the same {@link RecallModel.forward}. Weights are float32, arithmetic is float64. Not reentrant: the results of a forward
 * pass stay in the fields until the next one.
 */
export class RecallModel implements TokenScorer, TokenOdds {
  readonly base: BaseDistribution;
  readonly adapter: RecallAdapter | undefined;
  readonly reader: ContextReader;
  readonly candidates = new Candidates();
  /** By pair of `adapter.tokens`: what the weight of the token adds to its logit, and the exponential of that. */
  tokenLogits = new Float64Array(0);
  tokenExponentials = new Float64Array(0);
  /** The sum of `exp(logit - shift)` over the vocabulary. */
  total = 1;
  shift = 0;
  /** Their part of tokens that are not candidates, by class and without the base odds. */
  readonly rest = new Float64Array(CLASSES);
  /** For each class: its number of tokens, plus what the weights of tokens add to that. */
  readonly #weightOfClass = new Float64Array(CLASSES);
  readonly #candidatesOfClass = new Float64Array(CLASSES);

  constructor(base: BaseDistribution, adapter?: RecallAdapter) {
    this.base = base;
    this.adapter = adapter;
    this.reader = new ContextReader(base.vocabularySize);
    this.refresh();
  }

  get vocabularySize(): number {
    return this.base.vocabularySize;
  }

  /** Call it after the adapter's weights have changed. */
  refresh(): void {
    const table = this.adapter?.tokens;
    const own = this.#weightOfClass;
    own.set(this.base.counts);
    if (table === undefined) return;
    if (this.tokenLogits.length < table.capacity) {
      this.tokenLogits = new Float64Array(table.capacity);
      this.tokenExponentials = new Float64Array(table.capacity);
    }
    for (let pair = 0; pair < table.count; pair++) {
      const logit = TOKEN_BOUND * Math.tanh((TOKEN_SCALE * (table.weights[pair] as number)) / TOKEN_BOUND);
      const exponential = Math.exp(logit);
      this.tokenLogits[pair] = logit;
      this.tokenExponentials[pair] = exponential;
      const index = this.base.classOf(table.tokens[pair] as number);
      own[index] = (own[index] as number) + exponential - 1;
    }
  }

  /** Computes the distribution of the token that follows `context[position]`. */
  forward(context: Int32Array, position: number): void {
    const { reader, base } = this;
    reader.read(context, position);
    base.read(reader.keys[1] as number);
    this.candidates.clear();
    if (this.adapter !== undefined) this.#collect(this.adapter);
    this.#normalize();
  }

  /** The log-probability of `token` under the last forward pass. */
  logprob(token: number): number {
    return this.logit(token) - this.shift - Math.log(this.total);
  }

  /** The unnormalized log-probability of a token. */
  logit(token: number): number {
    const place = this.candidates.find(token);
    return place < 0 ? this.plainLogit(token) : (this.candidates.logits[place] as number);
  }

  /** What a token's logit would be if nothing in the context spoke for it. */
  plainLogit(token: number): number {
    const pair = this.tokenPair(token);
    return (this.base.logits[this.base.classOf(token)] as number) + (pair < 0 ? 0 : (this.tokenLogits[pair] as number));
  }

  /** The pair of `adapter.tokens` that holds the weight of a token, or -1 when it has none yet. */
  tokenPair(token: number): number {
    return this.adapter?.tokens?.first(token) ?? -1;
  }

  /** Makes a token a candidate after the pass, with the probability that it has. */
  include(token: number): number {
    const { candidates } = this;
    const found = candidates.find(token);
    if (found >= 0) return found;
    const logit = this.plainLogit(token);
    const place = candidates.add(token, 0);
    candidates.logits[place] = logit;
    candidates.exponentials[place] = Math.exp(logit - this.shift);
    return place;
  }

  draw(settings: ChoiceSettings, random: RandomStream): number {
    return drawToken(this, settings, random);
  }

  mostLikely(count: number): Int32Array {
    return likelyTokens(this, count);
  }

  logprobAt(token: number, temperature: number): number {
    return temperature === 1 ? this.logprob(token) : temperedLogprob(this, token, temperature);
  }

  #collect({ memory, relations }: RecallAdapter): void {
    const { reader, candidates } = this;
    if (memory !== undefined) {
      const { weights, tokens, next } = memory;
      const scales = KEY_SCALES;
      for (let index = 0; index < scales.length; index++) {
        const scale = scales[index] as number;
        for (let pair = memory.first(reader.keys[index] as number); pair >= 0; pair = next[pair] as number) {
          const weight = weights[pair] as number;
          // A weight that was never trained makes no difference, so that adding a pair changes nothing.
          if (weight !== 0) candidates.add(tokens[pair] as number, scale * weight);
        }
      }
    }
    if (relations !== undefined) {
      reader.readSources();
      const { sources, gate } = reader;
      const [plainScale, gatedScale] = [COPY_SCALE, GATED_COPY_SCALE];
      const row = gate * sources.length;
      for (let index = 0; index < sources.length; index++) {
        const token = sources[index] as number;
        if (token < 0) continue;
        const score = plainScale * (relations[index] as number) + gatedScale * (relations[row + index] as number);
        if (score !== 0) candidates.add(token, score);
      }
    }
  }

  #normalize(): void {
    const { base, candidates, rest } = this;
    const numbers = this.#candidatesOfClass;
    rest.set(this.#weightOfClass);
    numbers.set(base.counts);
    let shift = candidates.count < base.vocabularySize ? base.largest : Number.NEGATIVE_INFINITY;
    for (let place = 0; place < candidates.count; place++) {
      const token = candidates.tokens[place] as number;
      const own = base.classOf(token);
      const pair = this.tokenPair(token);
      const logit =
        (base.logits[own] as number) + (candidates.scores[place] as number) + (pair < 0 ? 0 : (this.tokenLogits[pair] as number));
      candidates.logits[place] = logit;
      if (logit > shift) shift = logit;
      rest[own] = (rest[own] as number) - (pair < 0 ? 1 : (this.tokenExponentials[pair] as number));
      numbers[own] = (numbers[own] as number) - 1;
    }
    let total = 0;
    for (let place = 0; place < candidates.count; place++) {
      const exponential = Math.exp((candidates.logits[place] as number) - shift);
      candidates.exponentials[place] = exponential;
      total += exponential;
    }
    for (let index = 0; index < rest.length; index++) {
      // The difference of large sums may be off by a rounding error: never below what the tokens of the class weigh at least.
      const least = (numbers[index] as number) * LEAST_WEIGHT;
      const weight = Math.max(rest[index] as number, least);
      rest[index] = least === 0 ? 0 : weight;
      total += (rest[index] as number) * Math.exp((base.logits[index] as number) - shift);
    }
    this.shift = shift;
    this.total = total;
  }
}
