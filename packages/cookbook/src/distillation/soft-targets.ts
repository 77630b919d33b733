import type { SamplingClient } from '@tinkex/clients';
import { type Datum, datum, type ModelInput, TensorData, type TokenLogprob } from '@tinkex/types';
import type { SupervisedDataset } from '../data/supervised-dataset.js';
import { fullSequence } from '../evaluation/full-sequence.js';

/** What soft targets use of a teacher. */
export type Teacher = Pick<SamplingClient, 'sample'>;

const DEFAULT_TOP_K = 20;

/** The likeliest tokens at each position of a prompt, from its second token on. Undefined where the teacher has no answer. */
export async function likelyTokens(teacher: Teacher, prompt: ModelInput, topk: number): Promise<(readonly TokenLogprob[])[] | undefined> {
  const { topkPromptLogprobs } = await teacher.sample({
    prompt,
    samplingParams: { maxTokens: 1 },
    includePromptLogprobs: true,
    topkPromptLogprobs: topk,
  });
  if (topkPromptLogprobs === undefined) return undefined;
  return topkPromptLogprobs
    .toList()
    .slice(1)
    .map((row) => row ?? []);
}

/** Probabilities over the tokens that were kept, in rows of k. A row with fewer repeats `pad` at probability 0. */
export function softRows(
  rows: readonly (readonly TokenLogprob[])[],
  k: number,
  pad: 'first' | 'zero',
): { readonly targetTokens: TensorData; readonly weights: TensorData } {
  const tokens: number[] = [];
  const weights: number[] = [];
  for (const row of rows) {
    const kept = row.slice(0, k);
    const probabilities = softmax(kept.map(([, logprob]) => logprob));
    for (let index = 0; index < k; index++) {
      tokens.push(kept[index]?.[0] ?? (pad === 'first' ? (kept[0]?.[0] ?? 0) : 0));
      weights.push(probabilities[index] ?? 0);
    }
  }
  const shape = [rows.length, k];
  return { targetTokens: TensorData.fromArray(tokens, 'int64', shape), weights: TensorData.fromArray(weights, 'float32', shape) };
}

/** The same example with the teacher's likeliest tokens as targets. Each trained position counts 1. Without an answer of the teacher it stays as it is. */
export async function softTargetDatum(example: Datum, teacher: Teacher, topk: number): Promise<Datum> {
  const rows = await likelyTokens(teacher, fullSequence(example, 0), topk);
  if (rows === undefined) return example;
  const trained = example.lossFnInputs.weights?.toNumbers() ?? [];
  const { targetTokens, weights } = softRows(rows.slice(-trained.length), topk, 'first');
  const masked = Float32Array.from(weights.toNumbers(), (weight, index) =>
    (trained[Math.floor(index / topk)] as number) > 0 ? weight : 0,
  );
  const { modelInput } = example;
  return datum({ modelInput, lossFnInputs: { targetTokens, weights: TensorData.fromArray(masked, 'float32', targetTokens.shape) } });
}

/** A dataset whose targets are a teacher's likeliest tokens: off-policy distillation with `trainSupervised`. */
export function softTargetDataset(
  dataset: SupervisedDataset,
  teacher: Teacher,
  { topk = DEFAULT_TOP_K }: { readonly topk?: number | undefined } = {},
): SupervisedDataset {
  return {
    batchCount: (epoch) => dataset.batchCount(epoch),
    getBatch: async (epoch, index) =>
      Promise.all((await dataset.getBatch(epoch, index)).map((example) => softTargetDatum(example, teacher, topk))),
  };
}

/** Probabilities of logprobs, renormalized. */
export function softmax(logprobs: readonly number[]): number[] {
  const highest = Math.max(...logprobs);
  const powers = logprobs.map((logprob) => Math.exp(logprob - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
