import { type LoraAdapter, type LowRankPair, MODULE_SHAPES } from './adapter.js';
import type { BaseModel } from './base-model.js';
import { ContextFeatures } from './context-features.js';
import { VOCABULARY, WIDTH } from './geometry.js';
import type { RandomStream } from './random.js';
import { type ChoiceSettings, chooseToken, rankTokens } from './token-choice.js';
import type { TokenScorer } from './token-scorer.js';

/**
 * Base weights plus an optional adapter, as a function from a context to a distribution over the next token.
 *
 * Training and sampling call the same {@link LanguageModel.forward}, one position at a time and without state between positions, so a
 * log-probability is the same number wherever it is computed. Weights are float32, arithmetic is float64. Not reentrant: the results of a
 * forward pass stay in the fields until the next one.
 */
export class LanguageModel implements TokenScorer {
  readonly vocabularySize = VOCABULARY;
  readonly base: BaseModel;
  readonly adapter: LoraAdapter | undefined;
  readonly features = new ContextFeatures();
  /** `A · input` of the sparse modules. */
  readonly attentionCode: Float64Array;
  readonly memoryCode: Float64Array;
  /** The residual stream, and the same after the bounding norm `hidden · norm`. */
  readonly hidden = new Float64Array(WIDTH);
  readonly bounded = new Float64Array(WIDTH);
  norm = 1;
  readonly logits = new Float64Array(VOCABULARY);
  /** `exp(logits - max)` and their sum. */
  readonly exponentials = new Float64Array(VOCABULARY);
  total = 1;
  /** `log Σ exp(logits)` */
  logNormalizer = 0;
  /** Base unembedding plus its adapter, one row per stream dimension (`WIDTH × VOCABULARY`). */
  readonly unembedding = new Float64Array(WIDTH * VOCABULARY);

  constructor(base: BaseModel, adapter?: LoraAdapter) {
    this.base = base;
    this.adapter = adapter;
    this.attentionCode = new Float64Array(adapter?.rank ?? 0);
    this.memoryCode = new Float64Array(adapter?.rank ?? 0);
    this.mergeUnembedding();
  }

  /** Call it after the adapter's weights have changed. Merging once makes the cost of a token independent of this module's rank. */
  mergeUnembedding(): void {
    const { base, unembedding, adapter } = this;
    const pair = adapter?.pair('unembed');
    const rank = adapter?.rank ?? 0;
    const scale = (adapter?.scale ?? 0) * MODULE_SHAPES.unembed.amplitude;
    for (let token = 0; token < VOCABULARY; token++) {
      for (let dimension = 0; dimension < WIDTH; dimension++) {
        let delta = 0;
        if (pair !== undefined) {
          for (let k = 0; k < rank; k++) delta += (pair.b[token * rank + k] as number) * (pair.a[dimension * rank + k] as number);
        }
        unembedding[dimension * VOCABULARY + token] = (base.unembedding[token * WIDTH + dimension] as number) + scale * delta;
      }
    }
  }

  /** Computes the distribution of the token that follows `context[position]`. */
  forward(context: Int32Array, position: number): void {
    const { features, hidden, base, adapter } = this;
    features.read(context, position);
    hidden.fill(0);
    addRows(hidden, base.attention, features.attention);
    addRows(hidden, base.memory, features.memory);
    if (adapter !== undefined) {
      addAdapter(hidden, adapter.pair('attn'), features.attention, this.attentionCode, adapter.scale * MODULE_SHAPES.attn.amplitude);
      addAdapter(hidden, adapter.pair('mlp'), features.memory, this.memoryCode, adapter.scale * MODULE_SHAPES.mlp.amplitude);
    }
    this.#bound();
    this.#project();
    this.#normalize();
  }

  /** The log-probability of `token` under the last forward pass. */
  logprob(token: number): number {
    return (this.logits[token] as number) - this.logNormalizer;
  }

  logprobAt(token: number, temperature: number): number {
    if (temperature === 0 || temperature === 1) return this.logprob(token);
    const largest = this.logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
    const total = this.logits.reduce((sum, logit) => sum + Math.exp((logit - largest) / temperature), 0);
    return ((this.logits[token] as number) - largest) / temperature - Math.log(total);
  }

  draw(settings: ChoiceSettings, random: RandomStream): number {
    return chooseToken(this.logits, settings, random);
  }

  mostLikely(count: number): Int32Array {
    return rankTokens(this.logits).subarray(0, count);
  }

  /** Linear near zero, never longer than √width: a large learning rate turns the stream instead of blowing it up. */
  #bound(): void {
    const { hidden, bounded } = this;
    let squares = 0;
    for (let j = 0; j < WIDTH; j++) squares += (hidden[j] as number) ** 2;
    this.norm = 1 / Math.sqrt(1 + squares / WIDTH);
    for (let j = 0; j < WIDTH; j++) bounded[j] = (hidden[j] as number) * this.norm;
  }

  #project(): void {
    const { bounded, logits, unembedding } = this;
    const size = VOCABULARY;
    logits.set(this.base.prior);
    // Four rows per pass: fewer trips through the logits.
    for (let j = 0; j < WIDTH; j += 4) {
      const x0 = bounded[j] as number;
      const x1 = bounded[j + 1] as number;
      const x2 = bounded[j + 2] as number;
      const x3 = bounded[j + 3] as number;
      const row0 = j * size;
      const row1 = row0 + size;
      const row2 = row1 + size;
      const row3 = row2 + size;
      for (let token = 0; token < size; token++) {
        logits[token] =
          (logits[token] as number) +
          x0 * (unembedding[row0 + token] as number) +
          x1 * (unembedding[row1 + token] as number) +
          x2 * (unembedding[row2 + token] as number) +
          x3 * (unembedding[row3 + token] as number);
      }
    }
  }

  #normalize(): void {
    const { logits, exponentials } = this;
    const size = VOCABULARY;
    let max = Number.NEGATIVE_INFINITY;
    for (let token = 0; token < size; token++) {
      const logit = logits[token] as number;
      if (logit > max) max = logit;
    }
    let total = 0;
    for (let token = 0; token < size; token++) {
      const exponential = Math.exp((logits[token] as number) - max);
      exponentials[token] = exponential;
      total += exponential;
    }
    this.total = total;
    this.logNormalizer = max + Math.log(total);
  }
}

/** `target += Σ table[row]`, with rows as long as the target. */
function addRows(target: Float64Array, table: Float32Array, rows: Int32Array): void {
  const length = target.length;
  for (let index = 0; index < rows.length; index++) {
    const start = (rows[index] as number) * length;
    for (let j = 0; j < length; j++) target[j] = (target[j] as number) + (table[start + j] as number);
  }
}

/** `hidden += scale · B · A · input`; leaves `A · input` in `code` for the backward pass. */
function addAdapter(
  hidden: Float64Array,
  pair: LowRankPair<Float32Array> | undefined,
  rows: Int32Array,
  code: Float64Array,
  scale: number,
): void {
  if (pair === undefined) return;
  const { a, b } = pair;
  code.fill(0);
  addRows(code, a, rows);
  const rank = code.length;
  for (let j = 0; j < hidden.length; j++) {
    const start = j * rank;
    let sum = 0;
    for (let k = 0; k < rank; k++) sum += (b[start + k] as number) * (code[k] as number);
    hidden[j] = (hidden[j] as number) + scale * sum;
  }
}
