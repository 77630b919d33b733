import type { SamplingClient } from '@tinkex/clients';
import type { Metrics } from '@tinkex/telemetry/runs';
import { fullSequence } from '../evaluation/full-sequence.js';
import { inputOf, type RlDatum, withAdvantages } from './assembly.js';

/** How strongly the policy is kept near a reference. */
export interface KlPenalty {
  /** What a nat of difference takes from the advantage. */
  readonly coefficient: number;
  /** Above 0, a token also answers for the tokens after it, discounted by this factor per token. Default 0. */
  readonly discount?: number | undefined;
  /** Whether the mean of the batch is taken from the penalty first, so that it is zero on average. Default true. */
  readonly isCentered?: boolean | undefined;
}

/** How far the weights that sampled are from those that train: `optim/kl_sample_train_v1`, `_v2`, and `optim/entropy`. */
export function klSampleTrain(data: readonly RlDatum[], trainingLogprobs: readonly ArrayLike<number>[]): Metrics {
  const { v1, v2 } = divergence(data, trainingLogprobs);
  const sampled = maskedValues(data, (each) => inputOf(each, 'logprobs'));
  return { 'optim/kl_sample_train_v1': v1, 'optim/kl_sample_train_v2': v2, 'optim/entropy': -mean(sampled) };
}

/** How far the weights have moved: `kl_pre_post_v1`, `_v2`, from the sampled logprobs to those of the new weights. */
export async function klPrePost(data: readonly RlDatum[], sampler: Pick<SamplingClient, 'computeLogprobs'>): Promise<Metrics> {
  const { v1, v2 } = divergence(data, await scoreTargets(data, sampler));
  return { kl_pre_post_v1: v1, kl_pre_post_v2: v2 };
}

/** Puts a penalty for the distance from a reference into the advantages, and gives the mean distance. */
export function applyKlPenalty(
  data: readonly RlDatum[],
  referenceLogprobs: readonly ArrayLike<number>[],
  { coefficient, discount = 0, isCentered = true }: KlPenalty,
): { readonly data: RlDatum[]; readonly meanKl: number } {
  const differences = data.map(({ mask, datum }, index) => {
    const sampled = inputOf({ datum }, 'logprobs');
    const reference = referenceLogprobs[index] as ArrayLike<number>;
    return Array.from(mask, (one, at) => (one > 0 ? (sampled[at] as number) - (reference[at] as number) : 0));
  });
  const sampledTokens = data.reduce((sum, { mask }) => sum + mask.reduce((total, one) => total + one, 0), 0);
  const meanKl = sampledTokens === 0 ? 0 : differences.flat().reduce((sum, difference) => sum + difference, 0) / sampledTokens;
  const baseline = isCentered ? meanKl : 0;
  const advantages = data.map((each, index) => {
    const { mask } = each;
    const penalties = Array.from(mask, (one, at) => coefficient * one * (baseline - (differences[index]?.[at] as number)));
    const added = discount > 0 ? discountedFutureSum(penalties, discount) : penalties;
    // The sum over the future also reaches prompt tokens, which were not sampled and must not be trained on.
    return inputOf(each, 'advantages').map((advantage, at) => advantage + (mask[at] as number) * (added[at] as number));
  });
  return { data: withAdvantages(data, advantages), meanKl };
}

/** Each value plus all later ones, discounted by `gamma` per position. */
export function discountedFutureSum(values: readonly number[], gamma: number): number[] {
  const sums = [...values];
  for (let index = sums.length - 2; index >= 0; index--) sums[index] = (sums[index] as number) + gamma * (sums[index + 1] as number);
  return sums;
}

/** The logprobs of all targets under the weights of a sampler. */
export function scoreTargets(
  data: readonly Pick<RlDatum, 'datum'>[],
  sampler: Pick<SamplingClient, 'computeLogprobs'>,
): Promise<Float32Array[]> {
  return Promise.all(data.map(async ({ datum }, index) => (await sampler.computeLogprobs(fullSequence(datum, index))).subarray(1)));
}

function divergence(data: readonly RlDatum[], logprobs: readonly ArrayLike<number>[]): { readonly v1: number; readonly v2: number } {
  const sampled = maskedValues(data, (each) => inputOf(each, 'logprobs'));
  const others = maskedValues(data, (_, index) => logprobs[index] ?? []);
  const differences = sampled.map((value, index) => value - (others[index] as number));
  return { v1: mean(differences), v2: mean(differences.map((value) => value * value)) / 2 };
}

function maskedValues(data: readonly RlDatum[], valuesOf: (each: RlDatum, index: number) => ArrayLike<number>): number[] {
  const values: number[] = [];
  for (const [index, each] of data.entries()) {
    const all = valuesOf(each, index);
    for (let at = 0; at < each.mask.length; at++) if ((each.mask[at] as number) > 0) values.push(all[at] as number);
  }
  return values;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
