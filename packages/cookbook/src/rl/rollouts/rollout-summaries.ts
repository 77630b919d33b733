import type { JsonRecord } from '@tinkex/telemetry/runs';
import { type TrajectoryGroup, totalRewards } from './trajectory.js';

const SCHEMA_VERSION = 1;

/** Lines of `iteration_NNNNNN/<split>_rollout_summaries.jsonl`, one per episode, as the reference writes them. */
export function rolloutSummaries(
  groups: readonly Omit<TrajectoryGroup, 'errors'>[],
  { split, iteration }: { readonly split: string; readonly iteration: number },
): JsonRecord[] {
  return groups.flatMap((group, groupIndex) => {
    const totals = totalRewards(group);
    return group.trajectories.map(({ transitions, finalObservation }, index) => ({
      schema_version: SCHEMA_VERSION,
      split,
      iteration,
      group_idx: groupIndex,
      traj_idx: index,
      tags: group.tags,
      sampling_client_step: group.samplerStep,
      total_reward: totals[index] ?? 0,
      final_reward: group.finalRewards[index] ?? 0,
      trajectory_metrics: group.finalMetrics[index] ?? {},
      steps: transitions.map(({ observation, action, reward, episodeDone, metrics, logs }, step) => ({
        step_idx: step,
        ob_len: observation.length,
        ac_len: action.tokens.length,
        reward,
        episode_done: episodeDone,
        metrics,
        logs,
      })),
      final_ob_len: finalObservation.length,
    }));
  });
}
