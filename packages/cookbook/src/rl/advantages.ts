import { type TrajectoryGroup, totalRewards } from './rollouts/trajectory.js';

type Rewarded = Pick<TrajectoryGroup, 'trajectories' | 'finalRewards'>;

/** Per group and episode, its total reward minus the mean of the group. Nothing is divided by the deviation or by a length. */
export function computeAdvantages(groups: readonly Rewarded[]): number[][] {
  return groups.map((group) => centered(totalRewards(group)));
}

/** Values minus their mean. */
export function centered(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

/** The groups whose episodes differ in reward; the others teach nothing. If there is none, the first group, so that a step happens. */
export function removeConstantGroups<Group extends Rewarded>(groups: readonly Group[]): readonly Group[] {
  const kept = groups.filter((group) => !isConstant(totalRewards(group)));
  return kept.length > 0 ? kept : groups.slice(0, 1);
}

/** Whether all values are exactly equal. */
export function isConstant(values: readonly number[]): boolean {
  return values.every((value) => value === values[0]);
}
