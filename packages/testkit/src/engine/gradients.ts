import { type AdapterMatrix, allocatePairs, type LoraAdapter, type LowRankPair, listMatrices, MODULE_SHAPES } from './adapter.js';
import { VOCABULARY, WIDTH } from './geometry.js';
import type { LanguageModel } from './language-model.js';
import type { Gradients } from './token-scorer.js';

/** The accumulated gradients of an adapter: sums over all positions given to {@link AdapterGradients.add} since the last `clear`. */
export class AdapterGradients implements Gradients {
  readonly #model: LanguageModel;
  readonly #adapter: LoraAdapter;
  readonly #pairs: ReadonlyMap<string, LowRankPair<Float64Array>>;
  readonly #matrices: AdapterMatrix<Float64Array>[];
  /** With respect to the merged unembedding; spread over its two factors only when the gradients are read. */
  readonly #unembedding: Float64Array | undefined;
  readonly #logits = new Float64Array(VOCABULARY);
  readonly #stream = new Float64Array(WIDTH);
  readonly #code: Float64Array;

  constructor(model: LanguageModel, adapter: LoraAdapter) {
    this.#model = model;
    this.#adapter = adapter;
    const pairs = allocatePairs(adapter, (length) => new Float64Array(length));
    this.#pairs = pairs;
    this.#matrices = listMatrices(pairs);
    this.#unembedding = pairs.has('unembed') ? new Float64Array(WIDTH * VOCABULARY) : undefined;
    this.#code = new Float64Array(adapter.rank);
  }

  /**
   * Backpropagates through the model's last forward pass, for a loss whose derivative with respect to the log-probability of `targets[i]`
   * is `slopes[i]`, for each i from `start` to `end` (exclusive).
   */
  add(targets: Int32Array, slopes: Float64Array, start: number, end: number): void {
    if (!this.#fillLogits(targets, slopes, start, end)) return;
    if (this.#unembedding === undefined) this.#backThroughUnembedding();
    else this.#backThroughTrainedUnembedding(this.#unembedding);
    this.#backThroughBound();
    const { features, attentionCode, memoryCode } = this.#model;
    this.#backThroughAdapter('attn', features.attention, attentionCode);
    this.#backThroughAdapter('mlp', features.memory, memoryCode);
  }

  /** The gradients of every matrix, in the order of `LoraAdapter.matrices()`. Valid until the next call of a method. */
  matrices(): readonly AdapterMatrix<Float64Array>[] {
    this.#spreadUnembedding();
    return this.#matrices;
  }

  /** The sums themselves, by name. They are what a restart must bring back. */
  sums(): AdapterMatrix<Float64Array>[] {
    const own = this.#matrices.filter(({ name }) => !name.startsWith('unembed.'));
    return this.#unembedding === undefined ? own : [...own, { name: 'unembed', values: this.#unembedding }];
  }

  /** Sets every gradient to zero. */
  clear(): void {
    for (const { values } of this.#matrices) values.fill(0);
    this.#unembedding?.fill(0);
  }

  /** d loss / d logits = Σ slope · (one-hot − probabilities). False when every slope is zero: such a position costs nothing. */
  #fillLogits(targets: Int32Array, slopes: Float64Array, start: number, end: number): boolean {
    let sum = 0;
    let isActive = false;
    for (let index = start; index < end; index++) {
      const slope = slopes[index] as number;
      if (slope !== 0) isActive = true;
      sum += slope;
    }
    if (!isActive) return false;
    const { exponentials, total } = this.#model;
    const logits = this.#logits;
    const factor = -sum / total;
    for (let token = 0; token < VOCABULARY; token++) logits[token] = factor * (exponentials[token] as number);
    for (let index = start; index < end; index++) {
      const target = targets[index] as number;
      logits[target] = (logits[target] as number) + (slopes[index] as number);
    }
    return true;
  }

  #backThroughUnembedding(): void {
    const logits = this.#logits;
    const { unembedding } = this.#model;
    for (let j = 0; j < WIDTH; j++) {
      const row = j * VOCABULARY;
      let sum = 0;
      for (let token = 0; token < VOCABULARY; token++) sum += (logits[token] as number) * (unembedding[row + token] as number);
      this.#stream[j] = sum;
    }
  }

  /** The hot loop of training: the gradients of the stream and of the weights in one walk, four rows per pass. */
  #backThroughTrainedUnembedding(gradient: Float64Array): void {
    const logits = this.#logits;
    const stream = this.#stream;
    const { unembedding, bounded } = this.#model;
    const size = VOCABULARY;
    for (let j = 0; j < WIDTH; j += 4) {
      const row0 = j * size;
      const row1 = row0 + size;
      const row2 = row1 + size;
      const row3 = row2 + size;
      const x0 = bounded[j] as number;
      const x1 = bounded[j + 1] as number;
      const x2 = bounded[j + 2] as number;
      const x3 = bounded[j + 3] as number;
      let sum0 = 0;
      let sum1 = 0;
      let sum2 = 0;
      let sum3 = 0;
      for (let token = 0; token < size; token++) {
        const slope = logits[token] as number;
        sum0 += slope * (unembedding[row0 + token] as number);
        sum1 += slope * (unembedding[row1 + token] as number);
        sum2 += slope * (unembedding[row2 + token] as number);
        sum3 += slope * (unembedding[row3 + token] as number);
        gradient[row0 + token] = (gradient[row0 + token] as number) + slope * x0;
        gradient[row1 + token] = (gradient[row1 + token] as number) + slope * x1;
        gradient[row2 + token] = (gradient[row2 + token] as number) + slope * x2;
        gradient[row3 + token] = (gradient[row3 + token] as number) + slope * x3;
      }
      stream[j] = sum0;
      stream[j + 1] = sum1;
      stream[j + 2] = sum2;
      stream[j + 3] = sum3;
    }
  }

  #backThroughBound(): void {
    const stream = this.#stream;
    const { hidden, norm } = this.#model;
    let along = 0;
    for (let j = 0; j < WIDTH; j++) along += (hidden[j] as number) * (stream[j] as number);
    const shrink = (norm ** 3 * along) / WIDTH;
    for (let j = 0; j < WIDTH; j++) stream[j] = norm * (stream[j] as number) - shrink * (hidden[j] as number);
  }

  #backThroughAdapter(module: 'attn' | 'mlp', rows: Int32Array, code: Float64Array): void {
    const gradient = this.#pairs.get(module);
    const weights = this.#adapter.pair(module);
    if (gradient === undefined || weights === undefined) return;
    const { a: gradientA, b: gradientB } = gradient;
    const { b } = weights;
    const codeGradient = this.#code;
    const rank = codeGradient.length;
    const scale = this.#adapter.scale * MODULE_SHAPES[module].amplitude;
    codeGradient.fill(0);
    for (let j = 0; j < WIDTH; j++) {
      const slope = scale * (this.#stream[j] as number);
      const start = j * rank;
      for (let k = 0; k < rank; k++) {
        gradientB[start + k] = (gradientB[start + k] as number) + slope * (code[k] as number);
        codeGradient[k] = (codeGradient[k] as number) + slope * (b[start + k] as number);
      }
    }
    for (let index = 0; index < rows.length; index++) {
      const start = (rows[index] as number) * rank;
      for (let k = 0; k < rank; k++) gradientA[start + k] = (gradientA[start + k] as number) + (codeGradient[k] as number);
    }
  }

  #spreadUnembedding(): void {
    const merged = this.#unembedding;
    const gradient = this.#pairs.get('unembed');
    const weights = this.#adapter.pair('unembed');
    if (merged === undefined || gradient === undefined || weights === undefined) return;
    const { rank } = this.#adapter;
    const scale = this.#adapter.scale * MODULE_SHAPES.unembed.amplitude;
    gradient.a.fill(0);
    gradient.b.fill(0);
    for (let j = 0; j < WIDTH; j++) {
      for (let token = 0; token < VOCABULARY; token++) {
        const slope = scale * (merged[j * VOCABULARY + token] as number);
        if (slope === 0) continue;
        const rowA = j * rank;
        const rowB = token * rank;
        for (let k = 0; k < rank; k++) {
          gradient.a[rowA + k] = (gradient.a[rowA + k] as number) + slope * (weights.b[rowB + k] as number);
          gradient.b[rowB + k] = (gradient.b[rowB + k] as number) + slope * (weights.a[rowA + k] as number);
        }
      }
    }
  }
}
