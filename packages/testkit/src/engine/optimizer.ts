import type { AdamParams, DimuonParams, OptimizerConfig } from '@tinkex/types';
import type { AdapterMatrix } from './adapter.js';
import { EngineUserError } from './engine.js';

/** The optimizers that the embedded engine computes. */
export type EngineOptimizer = Exclude<OptimizerConfig['type'], 'other'>;

/** All that an optimizer remembers between steps. */
export interface OptimizerState {
  readonly family: EngineOptimizer;
  /** Number of steps taken. */
  readonly step: number;
  /** By matrix name, in the order of the matrices. Float32, so that a checkpoint holds every number exactly. */
  readonly moments: ReadonlyMap<string, Readonly<Record<string, Float32Array>>>;
}

/** The settings that every optimizer has. */
export interface StepSettings {
  readonly learningRate: number;
  /** Largest norm of the gradient over all matrices; 0 or less means no limit. */
  readonly gradClipNorm: number;
}

/** Turns gradients into changes of the weights. */
export interface Optimizer extends OptimizerState {
  /** The settings of a step, with all defaults. Throws {@link EngineUserError} for an invalid one. */
  settings(params: AdamParams | DimuonParams): StepSettings;
  /** Makes room for weights that were added to the matrices. */
  fit(weights: readonly AdapterMatrix<Float32Array>[]): void;
  /** Takes over a saved state of the same family. Without one it starts again, and the next update is step 1. */
  restore(state?: OptimizerState): void;
  /** Changes `weights` by one step against `gradients` times `gradientScale`. Both lists hold the matrices that the optimizer was created for. */
  update(
    weights: readonly AdapterMatrix<Float32Array>[],
    gradients: readonly AdapterMatrix<Float64Array>[],
    gradientScale: number,
    settings: StepSettings,
  ): void;
}

/** A setting of a step, or its default. Throws {@link EngineUserError} when it is not a finite number within the limits. */
export function readSetting(
  params: AdamParams | DimuonParams,
  name: string,
  fallback: number | undefined,
  { min = 0 }: { readonly min?: number | undefined } = {},
): number {
  const value = (params as Readonly<Record<string, unknown>>)[name] ?? fallback;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min) {
    const limit = min === Number.NEGATIVE_INFINITY ? '' : ` of at least ${min}`;
    throw new EngineUserError(`${name} must be a finite number${limit}, got ${String(value)}.`);
  }
  if (name.startsWith('beta') && value >= 1) throw new EngineUserError(`${name} must be below 1, got ${value}.`);
  return value;
}
