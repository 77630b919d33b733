import type { CustomLossResult } from '@tinkex/clients';
import type { Metrics } from '@tinkex/telemetry/runs';
import type { Datum } from '@tinkex/types';

/** Per pair, the summed logprobs of the better and the worse answer, under the policy and under the reference. */
export interface SummedLogprobs {
  readonly chosen: readonly number[];
  readonly rejected: readonly number[];
  readonly chosenReference: readonly number[];
  readonly rejectedReference: readonly number[];
}

/** The mean over pairs of −log σ(z), z = β·((chosen − its reference) − (rejected − its reference)). */
export function dpoLoss(
  { chosen, rejected, chosenReference, rejectedReference }: SummedLogprobs,
  beta: number,
): { readonly loss: number; readonly metrics: Metrics; readonly margins: readonly number[] } {
  const pairs = chosen.length;
  const chosenGains = chosen.map((value, index) => value - (chosenReference[index] as number));
  const rejectedGains = rejected.map((value, index) => value - (rejectedReference[index] as number));
  const margins = chosenGains.map((gain, index) => beta * (gain - (rejectedGains[index] as number)));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / pairs;
  const loss = mean(margins.map((margin) => softplus(-margin)));
  const metrics = {
    dpo_loss: loss,
    accuracy: mean(chosenGains.map((gain, index) => (gain > (rejectedGains[index] as number) ? 1 : 0))),
    margin: mean(margins),
    chosen_reward: beta * mean(chosenGains),
    rejected_reward: beta * mean(rejectedGains),
  };
  return { loss, metrics, margins };
}

/**
 * The loss of examples that alternate between better and worse, with its gradient. A last example without its partner is left out by the caller.
 *
 * @param references - The logprobs of each example's targets under the reference.
 */
export function dpoCustomLoss(
  data: readonly Datum[],
  logprobs: readonly ArrayLike<number>[],
  references: readonly ArrayLike<number>[],
  beta: number,
): CustomLossResult {
  const weights = data.map(({ lossFnInputs }) => lossFnInputs.weights?.toNumbers() ?? []);
  const summed = (values: readonly ArrayLike<number>[], parity: 0 | 1) =>
    values.filter((_, index) => index % 2 === parity).map((each, pair) => weightedSum(each, weights[2 * pair + parity] as number[]));
  const { loss, metrics, margins } = dpoLoss(
    {
      chosen: summed(logprobs, 0),
      rejected: summed(logprobs, 1),
      chosenReference: summed(references, 0),
      rejectedReference: summed(references, 1),
    },
    beta,
  );
  const gradients = weights.map((each, index) => {
    const margin = margins[Math.floor(index / 2)] as number;
    const slope = ((index % 2 === 0 ? -beta : beta) * sigmoid(-margin)) / margins.length;
    return each.map((weight) => slope * weight);
  });
  return { loss, metrics, gradients };
}

function weightedSum(values: ArrayLike<number>, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => (weight === 0 ? sum : sum + weight * (values[index] as number)), 0);
}

/** log(1 + eˣ), also for large x. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}
