import type { Metrics } from '@tinkex/telemetry/runs';
import { computeAdvantages, removeConstantGroups } from '../advantages.js';
import { assembleData, type RlDatum } from '../assembly.js';
import type { TrajectoryGroup } from '../rollouts/trajectory.js';

/** Changes the advantages of examples, such as a penalty for the distance from other weights. */
export type AdvantageRule = (
  data: readonly RlDatum[],
  groups: readonly TrajectoryGroup[],
) => Promise<{ readonly data: RlDatum[]; readonly metrics: Metrics }>;

/** How episodes become examples. */
export interface PrepareOptions {
  readonly removeConstantRewardGroups: boolean;
  readonly rules: readonly AdvantageRule[];
}

/** Examples of a batch, or of a part of it. */
export interface PreparedBatch {
  /** The groups that are trained on. */
  readonly groups: readonly TrajectoryGroup[];
  readonly data: readonly RlDatum[];
  /** What the rules measured. */
  readonly metrics: Metrics;
}

/** From episodes to examples: advantages within each group, prefix merging, then the rules in order. */
export async function prepareBatch(
  played: readonly TrajectoryGroup[],
  { removeConstantRewardGroups, rules }: PrepareOptions,
): Promise<PreparedBatch> {
  const groups = removeConstantRewardGroups ? removeConstantGroups(played) : played;
  let data: readonly RlDatum[] = assembleData(groups, computeAdvantages(groups));
  let metrics: Metrics = {};
  if (data.length > 0) {
    for (const rule of rules) {
      const ruled = await rule(data, groups);
      data = ruled.data;
      metrics = { ...metrics, ...ruled.metrics };
    }
  }
  return { groups, data, metrics };
}

/** Cuts a list into parts of nearly the same size. Throws a `RangeError` for more parts than items. */
export function splitList<Item>(items: readonly Item[], parts: number): Item[][] {
  if (!(parts >= 1 && parts <= items.length)) throw new RangeError(`A list of ${items.length} cannot be cut into ${parts} parts.`);
  const bound = (part: number) => Math.floor((part * items.length) / parts);
  return Array.from({ length: parts }, (_, part) => items.slice(bound(part), bound(part + 1)));
}
