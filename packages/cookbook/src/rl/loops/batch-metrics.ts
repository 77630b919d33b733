import type { Metrics } from '@tinkex/telemetry/runs';
import type { TrajectoryGroup } from '../rollouts/trajectory.js';
import type { PreparedBatch } from './prepare-batch.js';

/** What the rules measured, weighted by the sampled tokens of each part. */
export function meanOfParts(parts: readonly PreparedBatch[]): Metrics {
  const sums = new Map<string, { sum: number; weight: number }>();
  for (const { metrics, data } of parts) {
    const weight = data.reduce((sum, { mask }) => sum + mask.reduce((total, one) => total + one, 0), 0);
    for (const [name, value] of Object.entries(metrics)) {
      const entry = sums.get(name) ?? { sum: 0, weight: 0 };
      sums.set(name, { sum: entry.sum + value * weight, weight: entry.weight + weight });
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, weight }]) => [name, weight === 0 ? 0 : sum / weight]));
}

/** How old the weights were that sampled. */
export function samplerSteps(groups: readonly TrajectoryGroup[]): Metrics {
  const steps = groups.map(({ samplerStep }) => samplerStep);
  if (steps.length === 0) return {};
  return {
    'sampling_client/step_max': Math.max(...steps),
    'sampling_client/step_min': Math.min(...steps),
    'sampling_client/step_mean': steps.reduce((sum, step) => sum + step, 0) / steps.length,
  };
}
