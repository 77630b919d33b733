import type { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from './forward-backward.js';
import { type ReduceMetricsOptions, reduceMetrics } from './reduce-metrics.js';

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
