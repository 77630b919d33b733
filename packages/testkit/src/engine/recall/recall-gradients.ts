import type { AdapterMatrix } from '../adapter.js';
import type { Gradients, PreparedInput } from '../token-scorer.js';
import { CLASSES } from './base-distribution.js';
import { ContextReader } from './context-reader.js';
import { COPY_SCALE, GATED_COPY_SCALE, KEY_SCALES, TOKEN_BOUND, TOKEN_SCALE } from './geometry.js';
import type { RecallAdapter } from './recall-adapter.js';
import type { RecallModel } from './recall-model.js';

/** The accumulated gradients of a recall model. */
export class RecallGradients implements Gradients {
  readonly #model: RecallModel;
  readonly #adapter: RecallAdapter;
  readonly #keyReader: ContextReader;
  #relations: Float64Array;
  #memory: Float64Array;
  /** With respect to what a token's weight adds to the logit, except for the share that all positions have in common: `#common`. */
  #tokens: Float64Array;
  readonly #common = new Float64Array(CLASSES);
  #tokenWeights = new Float64Array(0);
  /** d loss / d logit of each candidate. */
  #slopes = new Float64Array(256);
  /** The sum of the slopes of the position. */
  #sum = 0;

  constructor(model: RecallModel, adapter: RecallAdapter) {
    this.#model = model;
    this.#adapter = adapter;
    this.#keyReader = new ContextReader(model.vocabularySize);
    this.#relations = new Float64Array(adapter.relations?.length ?? 0);
    this.#memory = new Float64Array(adapter.memory?.capacity ?? 0);
    this.#tokens = new Float64Array(adapter.tokens?.capacity ?? 0);
  }

  /**
   * Adds a pair for each trained target and each key of its position. From then on they are weights like all others. A target that a pass makes less likely
   * where nothing speaks for it gets no pairs: there would be one set for each token that noise ever drew, and every later pass would pay for them.
   */
  prepare({ context, targets, targetsPerPosition, factorOf }: PreparedInput): void {
    const { memory, tokens } = this.#adapter;
    const reader = this.#keyReader;
    for (let index = 0; index < targets.length; index++) {
      const factor = factorOf(index);
      if (factor === 0) continue;
      const target = targets[index] as number;
      tokens?.add(target, target);
      if (memory === undefined) continue;
      reader.read(context, Math.floor(index / targetsPerPosition));
      if (factor < 0 && memory.find(reader.keys[0] as number, target) < 0) continue;
      for (const key of reader.keys) memory.add(key, target);
    }
    this.fit();
    this.#model.refresh();
  }

  /** Makes room for the weights that exist. */
  fit(): void {
    this.#memory = roomFor(this.#memory, this.#adapter.memory?.capacity ?? 0);
    this.#tokens = roomFor(this.#tokens, this.#adapter.tokens?.capacity ?? 0);
  }

  add(targets: Int32Array, slopes: Float64Array, start: number, end: number): void {
    if (!this.#fillSlopes(targets, slopes, start, end)) return;
    const { relations, memory, tokens } = this.#adapter;
    if (memory !== undefined) this.#addMemory();
    if (relations !== undefined) this.#addRelations();
    if (tokens !== undefined) this.#addTokens();
  }

  /** The gradients of every array of weights, in the order of `RecallAdapter.matrices()`. Valid until the next call of a method. */
  matrices(): AdapterMatrix<Float64Array>[] {
    const { relations, memory, tokens } = this.#adapter;
    const found: AdapterMatrix<Float64Array>[] = [];
    if (relations !== undefined) found.push({ name: 'attn', values: this.#relations });
    if (memory !== undefined) found.push({ name: 'mlp', values: this.#memory });
    if (tokens !== undefined) found.push({ name: 'unembed', values: this.#tokenGradients() });
    return found;
  }

  /** The sums themselves, by name. They are what a restart must bring back. */
  sums(): AdapterMatrix<Float64Array>[] {
    const own = this.matrices().map(({ name, values }) => ({ name, values: name === 'unembed' ? this.#tokens : values }));
    return [...own, { name: 'common', values: this.#common }];
  }

  /** Sets every gradient to zero. */
  clear(): void {
    for (const { values } of this.sums()) values.fill(0);
  }

  /** d loss / d logits = Σ slope · (one-hot − probabilities). False when every slope is zero: such a position costs nothing. */
  #fillSlopes(targets: Int32Array, slopes: Float64Array, start: number, end: number): boolean {
    const model = this.#model;
    let sum = 0;
    let isActive = false;
    for (let index = start; index < end; index++) {
      const slope = slopes[index] as number;
      if (slope === 0) continue;
      isActive = true;
      sum += slope;
      model.include(targets[index] as number);
    }
    if (!isActive) return false;
    this.#sum = sum;
    const { candidates, total } = model;
    if (this.#slopes.length < candidates.count) this.#slopes = new Float64Array(2 * candidates.count);
    for (let place = 0; place < candidates.count; place++)
      this.#slopes[place] = (-sum * (candidates.exponentials[place] as number)) / total;
    for (let index = start; index < end; index++) {
      const slope = slopes[index] as number;
      if (slope === 0) continue;
      const place = candidates.find(targets[index] as number);
      this.#slopes[place] = (this.#slopes[place] as number) + slope;
    }
    return true;
  }

  #slopeOf(token: number): number {
    const place = this.#model.candidates.find(token);
    return place >= 0 ? (this.#slopes[place] as number) : -this.#sum * Math.exp(this.#model.logprob(token));
  }

  #addMemory(): void {
    const table = this.#adapter.memory as NonNullable<RecallAdapter['memory']>;
    const { keys } = this.#model.reader;
    const { tokens, next } = table;
    const gradient = this.#memory;
    const scales = KEY_SCALES;
    for (let index = 0; index < scales.length; index++) {
      const scale = scales[index] as number;
      for (let pair = table.first(keys[index] as number); pair >= 0; pair = next[pair] as number) {
        gradient[pair] = (gradient[pair] as number) + scale * this.#slopeOf(tokens[pair] as number);
      }
    }
  }

  #addRelations(): void {
    const { sources, gate } = this.#model.reader;
    const gradient = this.#relations;
    const [plainScale, gatedScale] = [COPY_SCALE, GATED_COPY_SCALE];
    const row = gate * sources.length;
    for (let index = 0; index < sources.length; index++) {
      const token = sources[index] as number;
      if (token < 0) continue;
      const slope = this.#slopeOf(token);
      gradient[index] = (gradient[index] as number) + plainScale * slope;
      gradient[row + index] = (gradient[row + index] as number) + gatedScale * slope;
    }
  }

  /** Every token's weight has a gradient at every position. What it would be for a token that is not a candidate is summed up by class alone. */
  #addTokens(): void {
    const model = this.#model;
    const { base, candidates, total, shift } = model;
    for (let index = 0; index < base.logits.length; index++) {
      const share = (this.#sum * Math.exp((base.logits[index] as number) - shift)) / total;
      this.#common[index] = (this.#common[index] as number) - share;
    }
    for (let place = 0; place < candidates.count; place++) {
      const token = candidates.tokens[place] as number;
      const pair = model.tokenPair(token);
      if (pair < 0) continue;
      const plain = (this.#sum * Math.exp(model.plainLogit(token) - shift)) / total;
      this.#tokens[pair] = (this.#tokens[pair] as number) + (this.#slopes[place] as number) + plain;
    }
  }

  #tokenGradients(): Float64Array {
    const { tokens } = this.#adapter;
    const model = this.#model;
    if (this.#tokenWeights.length !== this.#tokens.length) this.#tokenWeights = new Float64Array(this.#tokens.length);
    for (let pair = 0; pair < (tokens?.count ?? 0); pair++) {
      const own = model.base.classOf(tokens?.tokens[pair] as number);
      const slope = (this.#tokens[pair] as number) + (model.tokenExponentials[pair] as number) * (this.#common[own] as number);
      this.#tokenWeights[pair] = TOKEN_SCALE * slope * (1 - ((model.tokenLogits[pair] as number) / TOKEN_BOUND) ** 2);
    }
    return this.#tokenWeights;
  }
}

function roomFor(values: Float64Array, length: number): Float64Array {
  if (values.length >= length) return values;
  const result = new Float64Array(length);
  result.set(values);
  return result;
}
