import type { DimuonParams } from '@tinkex/types';
import { enlarged } from './adamw.js';
import type { AdapterMatrix } from './adapter.js';
import { type Optimizer, type OptimizerState, readSetting, type StepSettings } from './optimizer.js';
import { eigenOfSymmetric } from './symmetric-eigen.js';

/** The settings of one step with Dimuon, all set. */
export interface DimuonSettings extends StepSettings {
  readonly beta1: number;
}

type Moments = { readonly momentum: Float32Array };

/** Directions whose singular value is smaller than this share of the largest are rounding errors; they do not move. */
const NEGLIGIBLE = 1e-5;

/**
 * Dimuon by our formula, because that of the service is not published (docs/decisions/0311): for each low-rank factor, the mean of the
 * gradients, orthogonalized, so that every direction that has a gradient moves equally far.
 */
export class Dimuon implements Optimizer {
  readonly family = 'dimuon';
  readonly #rank: number;
  readonly #moments: Map<string, Moments>;
  #step = 0;

  constructor(matrices: readonly AdapterMatrix<Float32Array>[], rank: number) {
    this.#rank = rank;
    this.#moments = new Map(matrices.map(({ name, values }) => [name, { momentum: new Float32Array(values.length) }]));
  }

  get step(): number {
    return this.#step;
  }

  get moments(): ReadonlyMap<string, Moments> {
    return this.#moments;
  }

  settings(params: DimuonParams): DimuonSettings {
    return {
      learningRate: readSetting(params, 'learningRate', undefined),
      gradClipNorm: readSetting(params, 'gradClipNorm', 0, { min: Number.NEGATIVE_INFINITY }),
      beta1: readSetting(params, 'beta1', 0.9),
    };
  }

  fit(weights: readonly AdapterMatrix<Float32Array>[]): void {
    for (const { name, values } of weights) {
      const { momentum } = this.#moments.get(name) ?? { momentum: new Float32Array() };
      if (momentum.length < values.length) this.#moments.set(name, { momentum: enlarged(momentum, values.length) });
    }
  }

  restore(state?: OptimizerState): void {
    this.#step = state?.step ?? 0;
    for (const [name, { momentum }] of this.#moments) momentum.fill(0).set(state?.moments.get(name)?.['momentum'] ?? []);
  }

  update(
    weights: readonly AdapterMatrix<Float32Array>[],
    gradients: readonly AdapterMatrix<Float64Array>[],
    gradientScale: number,
    { learningRate, beta1 }: DimuonSettings,
  ): void {
    this.#step++;
    this.fit(weights);
    for (const [index, { name, values }] of weights.entries()) {
      const gradient = gradients[index]?.values;
      const momentum = this.#moments.get(name)?.momentum;
      if (gradient === undefined || momentum === undefined) throw new Error(`The optimizer has no matrix ${name}.`);
      for (let at = 0; at < momentum.length; at++) {
        momentum[at] = beta1 * (momentum[at] as number) + (1 - beta1) * gradientScale * (gradient[at] as number);
      }
      const direction = orthogonalize(momentum, this.#rank);
      for (let at = 0; at < values.length; at++) values[at] = (values[at] as number) - learningRate * (direction[at] as number);
    }
  }
}

/**
 * The nearest matrix whose singular values are all equal: `M (MᵀM)^(-1/2)`, computed exactly from the small matrix `MᵀM`. It is scaled so that the
 * entries of the rows in use have a root mean square of about 1: learning rates then mean the same as for AdamW. Rows that never had a gradient
 * stay zero.
 *
 * @param matrix - Rows of `columns` numbers.
 */
export function orthogonalize(matrix: Float32Array, columns: number): Float64Array {
  const rowsInUse: number[] = [];
  for (let start = 0; start < matrix.length; start += columns) {
    if (matrix.subarray(start, start + columns).some((value) => value !== 0)) rowsInUse.push(start);
  }
  const result = new Float64Array(matrix.length);
  if (rowsInUse.length === 0) return result;
  const root = inverseRoot(gramOf(matrix, rowsInUse, columns), columns);
  const scale = Math.sqrt(rowsInUse.length);
  for (const start of rowsInUse) {
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += (matrix[start + k] as number) * (root[k * columns + column] as number);
      result[start + column] = scale * sum;
    }
  }
  return result;
}

function gramOf(matrix: Float32Array, rowsInUse: readonly number[], columns: number): Float64Array {
  const gram = new Float64Array(columns * columns);
  for (const start of rowsInUse) {
    for (let i = 0; i < columns; i++) {
      const value = matrix[start + i] as number;
      if (value === 0) continue;
      for (let j = i; j < columns; j++) gram[i * columns + j] = (gram[i * columns + j] as number) + value * (matrix[start + j] as number);
    }
  }
  for (let i = 0; i < columns; i++) for (let j = 0; j < i; j++) gram[i * columns + j] = gram[j * columns + i] as number;
  return gram;
}

/** `G^(-1/2)` on the directions that are not negligible, 0 on the others. */
function inverseRoot(gram: Float64Array, size: number): Float64Array {
  const { values, vectors } = eigenOfSymmetric(gram, size);
  const largest = values.reduce((most, value) => Math.max(most, value), 0);
  const root = new Float64Array(size * size);
  for (let k = 0; k < size; k++) {
    const value = values[k] as number;
    if (!(value > largest * NEGLIGIBLE ** 2)) continue;
    const factor = 1 / Math.sqrt(value);
    for (let i = 0; i < size; i++) {
      const left = factor * (vectors[i * size + k] as number);
      for (let j = 0; j < size; j++) root[i * size + j] = (root[i * size + j] as number) + left * (vectors[j * size + k] as number);
    }
  }
  return root;
}
