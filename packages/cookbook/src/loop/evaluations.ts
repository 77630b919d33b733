import type { SamplingClient, TrainingClient } from '@tinkex/clients';
import type { Metrics, Usage } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';
import type { Evaluator } from '../evaluation/evaluator.js';

/** Runs evaluators one after the other. Those that sample share one sampler, which is created when the first needs it. */
export async function runEvaluators(
  evaluators: readonly Evaluator[],
  step: number,
  training: TrainingClient,
  createSampler: () => Promise<SamplingClient>,
): Promise<Metrics> {
  const metrics: Record<string, number> = {};
  let sampler: Promise<SamplingClient> | undefined;
  for (const evaluator of evaluators) {
    if (evaluator.kind === 'training') Object.assign(metrics, await evaluator.evaluate(training, { step }));
    else {
      sampler ??= createSampler();
      Object.assign(metrics, await evaluator.evaluate(await sampler, { step }));
    }
  }
  return metrics;
}

/** What a step and the evaluations before it use. */
export function usageWithEvaluators(usage: Usage, evaluators: readonly Evaluator[]): Usage {
  const usages = [usage, ...evaluators.map((evaluator) => evaluator.usage ?? {})];
  const sum = (kind: keyof Usage) => usages.reduce((total, each) => total + (each[kind] ?? 0), 0);
  return { trainTokens: sum('trainTokens'), prefillTokens: sum('prefillTokens'), sampledTokens: sum('sampledTokens') };
}

/** @throws ConfigurationError when an evaluator could exceed the budget unnoticed. */
export function checkEvaluatorUsage(evaluators: readonly Evaluator[], maxCostUsd: number | undefined): void {
  if (maxCostUsd === undefined || evaluators.every(({ usage }) => usage !== undefined)) return;
  const message = 'maxCostUsd needs the usage of each evaluator: the most tokens that one evaluation prefills and samples.';
  throw new ConfigurationError({ option: 'evaluators', message });
}
