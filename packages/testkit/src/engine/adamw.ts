import type { AdapterMatrix } from './adapter.js';

/** The settings of one optimizer step: the fields of `AdamParams`, all set. */
export interface AdamWSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Largest norm of the gradient over all matrices; 0 means no limit. */
  readonly gradClipNorm: number;
}

/** The optimizer's memory of one matrix. */
export interface Moments {
  readonly first: Float32Array;
  readonly second: Float32Array;
}

/** The optimizer's whole memory. */
export interface AdamWState {
  /** Number of steps taken. */
  readonly step: number;
  /** By matrix name, in the order of the matrices. */
  readonly moments: ReadonlyMap<string, Moments>;
}

/**
 * AdamW as PyTorch defines it: decoupled weight decay first, bias-corrected moments, `eps` added to the root. The moments are float32, so that
 * a checkpoint holds them exactly.
 */
export class AdamW implements AdamWState {
  #step = 0;
  readonly #moments: ReadonlyMap<string, Moments>;

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

  /** Takes over a saved state. Without one it starts again, and the next update is step 1. */
  restore(state?: AdamWState): void {
    this.#step = state?.step ?? 0;
    for (const [name, { first, second }] of this.#moments) {
      const saved = state?.moments.get(name);
      first.fill(0).set(saved?.first ?? []);
      second.fill(0).set(saved?.second ?? []);
    }
  }

  /** Changes `weights` by one step against `gradients` times `gradientScale` (for clipping). Both lists hold the matrices of the constructor. */
  update(
    weights: readonly AdapterMatrix<Float32Array>[],
    gradients: readonly AdapterMatrix<Float64Array>[],
    gradientScale: number,
    settings: AdamWSettings,
  ): void {
    this.#step++;
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
