import type { AdamParams } from '@tinkex/types';
import { DEFAULT_ADAM_PARAMS } from '@tinkex/types/wire';
import type { AdapterMatrix } from './adapter.js';
import { type Optimizer, type OptimizerState, readSetting, type StepSettings } from './optimizer.js';

/** The settings of one step with AdamW: the fields of `AdamParams`, all set. */
export interface AdamWSettings extends StepSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
}

/** The optimizer's memory of one matrix. */
type Moments = { readonly first: Float32Array; readonly second: Float32Array };

/**
 * AdamW as PyTorch defines it: decoupled weight decay first, bias-corrected moments, `eps` added to the root. The moments are float32, so that
 * a checkpoint holds them exactly.
 */
export class AdamW implements Optimizer {
  readonly family = 'adamw';
  #step = 0;
  readonly #moments: Map<string, Moments>;

  constructor(matrices: readonly AdapterMatrix<Float32Array>[]) {
    this.#moments = new Map(
      matrices.map(({ name, values }) => [name, { first: new Float32Array(values.length), second: new Float32Array(values.length) }]),
    );
  }

  get step(): number {
    return this.#step;
  }

  get moments(): ReadonlyMap<string, Moments> {
    return this.#moments;
  }

  settings(params: AdamParams): AdamWSettings {
    const names = Object.keys(DEFAULT_ADAM_PARAMS) as (keyof AdamWSettings)[];
    const settings = names.map((name) => [name, readSetting(params, name, DEFAULT_ADAM_PARAMS[name])]);
    return Object.fromEntries(settings) as AdamWSettings;
  }

  fit(weights: readonly AdapterMatrix<Float32Array>[]): void {
    for (const { name, values } of weights) {
      const { first, second } = this.#moments.get(name) ?? { first: new Float32Array(), second: new Float32Array() };
      if (first.length < values.length) {
        this.#moments.set(name, { first: enlarged(first, values.length), second: enlarged(second, values.length) });
      }
    }
  }

  restore(state?: OptimizerState): void {
    this.#step = state?.step ?? 0;
    for (const [name, { first, second }] of this.#moments) {
      const saved = state?.moments.get(name);
      first.fill(0).set(saved?.['first'] ?? []);
      second.fill(0).set(saved?.['second'] ?? []);
    }
  }

  update(
    weights: readonly AdapterMatrix<Float32Array>[],
    gradients: readonly AdapterMatrix<Float64Array>[],
    gradientScale: number,
    settings: AdamWSettings,
  ): void {
    this.#step++;
    this.fit(weights);
    const firstCorrection = 1 - settings.beta1 ** this.#step;
    const secondCorrection = Math.sqrt(1 - settings.beta2 ** this.step);
    for (const [index, { name, values }] of weights.entries()) {
      const gradient = gradients[index]?.values;
      const moments = this.#moments.get(name);
      if (gradient === undefined || moments === undefined) throw new Error(`The optimizer has no matrix ${name}.`);
      updateMatrix(values, gradient, gradientScale, moments, settings, firstCorrection, secondCorrection);
    }
  }
}

function updateMatrix(
  weights: Float32Array,
  gradient: Float64Array,
  gradientScale: number,
  { first, second }: Moments,
  { learningRate, beta1, beta2, eps, weightDecay }: AdamWSettings,
  firstCorrection: number,
  secondCorrection: number,
): void {
  const keep = 1 - learningRate * weightDecay;
  const rate = learningRate / firstCorrection;
  for (let index = 0; index < weights.length; index++) {
    const slope = (gradient[index] as number) * gradientScale;
    const oldMean = first[index] as number;
    const oldSquare = second[index] as number;
    // Most rows of a sparse input have never been used: they cost nothing, and do not change whatever eps is.
    if (slope === 0 && oldMean === 0 && oldSquare === 0) {
      if (keep !== 1) weights[index] = keep * (weights[index] as number);
      continue;
    }
    const mean = beta1 * oldMean + (1 - beta1) * slope;
    const square = beta2 * oldSquare + (1 - beta2) * slope * slope;
    first[index] = mean;
    second[index] = square;
    const change = (rate * mean) / (Math.sqrt(square) / secondCorrection + eps);
    weights[index] = keep * (weights[index] as number) - change;
  }
}

/** A longer array that starts with `values`; the rest is zero. */
export function enlarged(values: Float32Array, length: number): Float32Array {
  const result = new Float32Array(length);
  result.set(values);
  return result;
}

/** The Euclidean norm over all matrices. */
export function gradientNorm(gradients: readonly AdapterMatrix<Float64Array>[]): number {
  let squares = 0;
  for (const { values } of gradients) {
    for (let index = 0; index < values.length; index++) squares += (values[index] as number) ** 2;
  }
  return Math.sqrt(squares);
}

/** The factor that keeps the norm of the gradients within `maxNorm` (0 for no limit), as `clip_grad_norm_` does. */
export function clipScale(norm: number, maxNorm: number): number {
  return maxNorm > 0 ? Math.min(1, maxNorm / (norm + 1e-6)) : 1;
}
