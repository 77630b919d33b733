import { invalidResponse } from '../errors/validation-error.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from './forward-backward.js';

/** The metrics of one chunk's result. */
export interface ChunkMetrics {
  readonly metrics: Readonly<Record<string, number>>;
  /** The number of loss outputs of the chunk. */
  readonly weight: number;
}

/** How to treat what the reference client refuses. */
export interface ReduceMetricsOptions {
  /**
   * `lenient` (default): a key without a reduction (`loss`, `a:b:sum`) is averaged by weight, as servers other than the hosted one
   * send them; chunks without outputs weigh the same. `strict`: both are a `ValidationError`, as in the reference.
   */
  readonly mode?: 'lenient' | 'strict' | undefined;
}

type Reduce = (values: readonly number[], weights: readonly number[], key: string, isStrict: boolean) => number;

const REDUCTIONS: Readonly<Record<string, Reduce>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: largest,
  mean: weightedMean,
  slack: (values, weights, key, isStrict) => largest(values) - weightedMean(values, weights, key, isStrict),
  hash2: (values) => Number(wrappingSum(values)),
};

/**
 * Combines the results of the chunks of one call: outputs in order, metrics reduced by their names (also for one chunk). The
 * tensors are the same objects, not copies. No chunks give an empty result.
 */
export function combineForwardBackwardOutputs(
  outputs: readonly ForwardBackwardOutput[],
  options?: ReduceMetricsOptions,
): ForwardBackwardOutput {
  // The engine copies the lists in one go, into memory that is allocated once.
  const lossFnOutputs = ([] as Readonly<Record<string, TensorData>>[]).concat(...outputs.map((output) => output.lossFnOutputs));
  const chunks = outputs.map((output) => ({ metrics: output.metrics, weight: output.lossFnOutputs.length }));
  return { lossFnOutputType: outputs[0]?.lossFnOutputType ?? '', lossFnOutputs, metrics: reduceMetrics(chunks, options) };
}

/**
 * Combines the metrics of the chunks of one call. Only keys of the first chunk count; keys missing from a chunk, and keys with an
 * unknown reduction, are left out. `mean` and `slack` weigh by loss outputs; `unique` keeps every value, from the second on
 * under `key_1`, `key_2`, …
 *
 * A `hash2` is rounded to a double; {@link wrappingSum} gives it exactly.
 */
export function reduceMetrics(chunks: readonly ChunkMetrics[], { mode = 'lenient' }: ReduceMetricsOptions = {}): Record<string, number> {
  const reduced: [string, number][] = [];
  const [first] = chunks;
  if (first === undefined) return {};
  const isStrict = mode === 'strict';
  const weights = chunks.map((chunk) => chunk.weight);
  for (const key of Object.keys(first.metrics)) {
    const values = chunks.map(({ metrics }) => (Object.hasOwn(metrics, key) ? metrics[key] : undefined));
    if (values.includes(undefined)) continue;
    const numbers = values as number[];
    const reduction = reductionOf(key, isStrict);
    if (reduction === 'unique')
      reduced.push(...numbers.map((value, index): [string, number] => [index === 0 ? key : `${key}_${index}`, value]));
    else if (Object.hasOwn(REDUCTIONS, reduction)) reduced.push([key, (REDUCTIONS[reduction] as Reduce)(numbers, weights, key, isStrict)]);
  }
  return Object.fromEntries(reduced);
}

/** Spreading thousands of chunks into a call would overflow the stack. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function reductionOf(key: string, isStrict: boolean): string {
  const parts = key.split(':');
  if (parts.length === 2) return parts[1] as string;
  if (isStrict) throw invalidResponse('metrics', key, 'must be named name:reduction, with exactly one colon');
  return 'mean';
}

function weightedMean(values: readonly number[], weights: readonly number[], key: string, isStrict: boolean): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) {
    if (isStrict) throw invalidResponse('metrics', key, 'cannot be averaged: there are no loss outputs to weigh by');
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  }
  return values.reduce((sum, value, index) => sum + value * (weights[index] as number), 0) / total;
}

/**
 * The reduction `hash2`: the whole parts of the values, added up modulo 2^64, so that their order does not matter. Throws a `ValidationError`
 * for NaN and infinities. The result is an unsigned 64-bit integer.
 */
export function wrappingSum(values: readonly number[]): bigint {
  return values.reduce((sum, value) => {
    if (!Number.isFinite(value)) throw invalidResponse('metrics', 'hash2', `cannot be made of ${value}`);
    return BigInt.asUintN(64, sum + BigInt(Math.trunc(value)));
  }, 0n);
}
