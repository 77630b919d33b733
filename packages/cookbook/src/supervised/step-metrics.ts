import type { Metrics } from '@tinkex/telemetry/runs';
import type { Datum, ForwardBackwardOutput, OptimStepResponse } from '@tinkex/types';
import { bitsPerByte, type DecodingTokenizer, meanNll, numbersOf, type ScoredTargets, scoreTargets } from '../evaluation/loss-metrics.js';
import type { PlannedStep, TrainingPlan } from '../loop/plan.js';

/** What has come back for a step. */
export interface StepResults {
  readonly data: readonly Datum[];
  readonly output: ForwardBackwardOutput;
  readonly update: OptimStepResponse;
  readonly evaluation: Metrics;
  readonly timings: Metrics;
}

/** The record of a step in `metrics.jsonl`, under the reference's names. */
export function stepMetrics(
  { totalSteps }: TrainingPlan,
  { step, epoch, adamParams }: PlannedStep,
  { data, output, update, evaluation, timings }: StepResults,
  tokenizer: DecodingTokenizer,
): Metrics {
  const logprobs = output.lossFnOutputs.map((outputs) => numbersOf(outputs.logprobs));
  const scored = scoreTargets(data, logprobs);
  return {
    epoch,
    progress: (step + 1) / totalSteps,
    learning_rate: adamParams.learningRate,
    ...update.metrics,
    num_sequences: data.length,
    num_tokens: tokensOf(data),
    num_loss_tokens: sumOfWeights(scored),
    train_mean_nll: meanNll(scored),
    train_mean_bpb: bitsPerByte(scored, tokenizer),
    ...evaluation,
    ...timings,
  };
}

function sumOfWeights(scored: readonly ScoredTargets[]): number {
  let sum = 0;
  for (const { weights } of scored) {
    // Row by row, as the reference adds them up.
    let ofRow = 0;
    for (let index = 0; index < weights.length; index++) ofRow += weights[index] as number;
    sum += ofRow;
  }
  return sum;
}

/** The tokens that the model reads. */
export function tokensOf(data: readonly Datum[]): number {
  return data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
}
