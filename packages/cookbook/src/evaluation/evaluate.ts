import type { ServiceClient } from '@tinkex/clients';
import type { KlReference } from '../rl/config.js';
import type { EvaluationMetrics, SamplingEvaluator } from './evaluator.js';

/** Measures weights without training: runs evaluators one after the other on the same sampler. */
export async function evaluate(
  service: Pick<ServiceClient, 'createSamplingClient'>,
  weights: KlReference,
  evaluators: readonly SamplingEvaluator[],
): Promise<EvaluationMetrics> {
  const sampler = await service.createSamplingClient({ ...weights, retry: true });
  const metrics: Record<string, number> = {};
  for (const evaluator of evaluators) Object.assign(metrics, await evaluator.evaluate(sampler));
  return metrics;
}
