import type { ModelInput } from '@tinkex/types';
import type { Action, EnvGroup, EnvLogs, EnvMetrics } from '../environments/env.js';
import type { RolloutStopReason } from './stop-reason.js';

/** One turn of an episode: what the model saw, what it did, what came of it. */
export interface Transition {
  readonly observation: ModelInput;
  readonly action: Action;
  readonly reward: number;
  readonly episodeDone: boolean;
  readonly metrics: EnvMetrics;
  readonly logs: EnvLogs;
}

/** One episode. */
export interface Trajectory {
  readonly transitions: readonly Transition[];
  /** What the model would have seen next. */
  readonly finalObservation: ModelInput;
  /** Undefined if the environment named no reason. */
  readonly stopReason?: RolloutStopReason | undefined;
}

/** The episodes of a group with their final rewards. */
export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
  /** What the end of each episode adds to the rewards of its steps. */
  readonly finalRewards: readonly number[];
  readonly finalMetrics: readonly EnvMetrics[];
  /** Failures that did not end the group. */
  readonly errors: readonly unknown[];
  readonly tags: readonly string[];
  /** How many training steps the weights had taken that were sampled from. */
  readonly samplerStep: number;
  /** The task that was played. */
  readonly task?: EnvGroup | undefined;
}

/** The rewards of all steps. */
export function stepRewards({ transitions }: Trajectory): number {
  return transitions.reduce((sum, { reward }) => sum + reward, 0);
}

/** Per episode, the rewards of its steps and its final one. */
export function totalRewards({ trajectories, finalRewards }: Pick<TrajectoryGroup, 'trajectories' | 'finalRewards'>): number[] {
  return trajectories.map((trajectory, index) => stepRewards(trajectory) + (finalRewards[index] ?? 0));
}
