import type { Metrics } from '@tinkex/telemetry/runs';
import { isConstant } from './advantages.js';
import { type TrajectoryGroup, totalRewards } from './rollouts/trajectory.js';

type MeasuredGroup = Pick<TrajectoryGroup, 'trajectories' | 'finalRewards' | 'finalMetrics' | 'tags'>;

/** A group of equal rewards from here up is `all_good`. */
const GOOD_REWARD = 0.5;

/** What the episodes of a batch were like, under the reference's names: `env/all/…`, and `env/<tag>/…` where tags tell groups apart. */
export function trajectoryMetrics(groups: readonly MeasuredGroup[]): Metrics {
  const metrics: Record<string, number> = {};
  for (const tag of new Set(groups.flatMap(({ tags }) => tags))) {
    const tagged = groups.filter(({ tags }) => tags.includes(tag));
    if (tagged.length < groups.length) addPrefixed(metrics, `env/${tag}/`, describeGroups(tagged));
  }
  addPrefixed(metrics, 'env/all/', describeGroups(groups));
  return metrics;
}

function describeGroups(groups: readonly MeasuredGroup[]): Metrics {
  const trajectories = groups.flatMap((group) => group.trajectories);
  const transitions = trajectories.flatMap((trajectory) => trajectory.transitions);
  const actionTokens = transitions.reduce((sum, { action }) => sum + action.tokens.length, 0);
  const observationTokens = transitions.reduce((sum, { observation }) => sum + observation.length, 0);
  const rewards = groups.flatMap(totalRewards);
  return {
    ac_tokens_per_turn: ratio(actionTokens, transitions.length),
    ob_tokens_per_turn: ratio(observationTokens, transitions.length),
    turns_per_episode: ratio(transitions.length, trajectories.length),
    total_episodes: trajectories.length,
    total_turns: transitions.length,
    total_ac_tokens: actionTokens,
    total_ob_tokens: observationTokens,
    'reward/total': ratio(
      rewards.reduce((sum, reward) => sum + reward, 0),
      rewards.length,
    ),
    ...meanByName(groups.flatMap((group) => [...group.trajectories.flatMap(metricsOfTurns), ...group.finalMetrics])),
    ...groupShares(groups),
  };
}

function metricsOfTurns({ transitions }: MeasuredGroup['trajectories'][number]): Metrics[] {
  return transitions.map(({ metrics }) => metrics);
}

/** The mean of each name over the records that have it. */
export function meanByName(records: readonly Metrics[]): Metrics {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const entry = sums.get(name) ?? { sum: 0, count: 0 };
      sums.set(name, { sum: entry.sum + value, count: entry.count + 1 });
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]));
}

function groupShares(groups: readonly MeasuredGroup[]): Metrics {
  const constant = groups.map(totalRewards).filter(isConstant);
  const good = constant.filter(([reward = 0]) => reward >= GOOD_REWARD).length;
  return {
    'by_group/frac_mixed': ratio(groups.length - constant.length, groups.length),
    'by_group/frac_all_good': ratio(good, groups.length),
    'by_group/frac_all_bad': ratio(constant.length - good, groups.length),
  };
}

function addPrefixed(target: Record<string, number>, prefix: string, metrics: Metrics): void {
  for (const [name, value] of Object.entries(metrics)) target[`${prefix}${name}`] = value;
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
