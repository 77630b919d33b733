import type { SamplingClient } from '@tinkex/clients';
import type { Metrics } from '@tinkex/telemetry/runs';
import { type BatchDataset, rowDataset } from '../data/supervised-dataset.js';
import { refuse } from '../loop/options.js';
import type { TrainingRun } from '../loop/run-training.js';
import type { RlDatum } from '../rl/assembly.js';
import { type KlReference, type RlConfig, resolveRlConfig } from '../rl/config.js';
import type { EnvGroup } from '../rl/environments/env.js';
import { applyKlPenalty, type KlPenalty, scoreTargets } from '../rl/kl.js';
import type { AdvantageRule } from '../rl/loops/prepare-batch.js';
import { runRl } from '../rl/train-rl.js';

/** Prompts with the teacher that knows their answers. */
export interface DistillationDataset {
  /** Prompts, from `promptGroup`, or any tasks, whose rewards are added. */
  readonly groups: readonly EnvGroup[] | BatchDataset<EnvGroup>;
  readonly teacher: KlReference;
  /** Default: the `groupsPerBatch` of the run. Without meaning for your own batches. */
  readonly groupsPerBatch?: number | undefined;
}

/** Options of `distillOnPolicy`. */
export interface OnPolicyDistillationConfig extends Omit<RlConfig, 'dataset' | 'klReference'> {
  /** A batch has tasks of each. An epoch is as long as the shortest. */
  readonly datasets: readonly DistillationDataset[];
  /** What a nat of difference from the teacher takes from the advantage. Default 1. */
  readonly klPenaltyCoef?: number | undefined;
}

/**
 * Distills on policy: the student answers prompts, and each token is rewarded by how likely the teacher finds it (reverse KL). Metrics are those of `trainRl` with
 * `teacher_kl` and `teacher_kl/dataset_<n>`.
 */
export async function distillOnPolicy(options: OnPolicyDistillationConfig): Promise<TrainingRun> {
  const { datasets, klPenaltyCoef: coefficient = 1, klDiscountFactor: discount = 0, ...rest } = options;
  if (datasets.length === 0) refuse('datasets', 'distillOnPolicy needs at least one dataset.');
  const sources = new Map<EnvGroup, number>();
  const config = resolveRlConfig({ ...rest, dataset: joinDatasets(datasets, options, sources) });
  const teachers = await Promise.all(datasets.map(({ teacher }) => config.service.createSamplingClient({ ...teacher, retry: true })));
  const rule: AdvantageRule = (data, groups) => {
    const sourceOf = ({ origin }: RlDatum) => sources.get(groups[origin.groupIndex]?.task as EnvGroup) ?? 0;
    return distillationRule(data, data.map(sourceOf), teachers, { coefficient, discount });
  };
  const record = {
    kl_penalty_coef: coefficient,
    kl_discount_factor: discount,
    dataset_configs: datasets.map(({ teacher }) => ({ teacher_config: { ...teacher } })),
  };
  return runRl(config, { recipeName: 'on_policy_distillation', record, rules: [rule] });
}

/** Puts the distance from the teacher of each example into its advantages. */
export async function distillationRule(
  data: readonly RlDatum[],
  sources: readonly number[],
  teachers: readonly Pick<SamplingClient, 'computeLogprobs'>[],
  penalty: KlPenalty,
): Promise<{ readonly data: RlDatum[]; readonly metrics: Metrics }> {
  const logprobs = await Promise.all(
    data.map(async (each, index) => (await scoreTargets([each], teachers[sources[index] as number] as SamplingClient))[0] as Float32Array),
  );
  const { data: ruled, meanKl } = applyKlPenalty(data, logprobs, { ...penalty, isCentered: false });
  const metrics: Record<string, number> = { teacher_kl: meanKl };
  for (const source of [...new Set(sources)].toSorted((left, right) => left - right)) {
    const isOf = (_: unknown, index: number) => sources[index] === source;
    metrics[`teacher_kl/dataset_${source}`] = applyKlPenalty(data.filter(isOf), logprobs.filter(isOf), penalty).meanKl;
  }
  return { data: ruled, metrics };
}

function joinDatasets(
  datasets: readonly DistillationDataset[],
  { groupsPerBatch: size = 32, shuffle }: OnPolicyDistillationConfig,
  sources: Map<EnvGroup, number>,
): BatchDataset<EnvGroup> {
  const parts = datasets.map(({ groups, groupsPerBatch = size }) =>
    'getBatch' in groups ? groups : rowDataset({ rows: groups, toData: (group: EnvGroup) => [group], batchSize: groupsPerBatch, shuffle }),
  );
  return {
    batchCount: (epoch) => Math.min(...parts.map((part) => part.batchCount(epoch))),
    async getBatch(epoch, index) {
      const batches = await Promise.all(parts.map((part) => part.getBatch(epoch, index)));
      for (const [source, batch] of batches.entries()) for (const group of batch) sources.set(group, source);
      return batches.flat();
    },
  };
}
