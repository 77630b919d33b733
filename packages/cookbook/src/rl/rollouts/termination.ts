import type { GroupReward } from '../environments/env.js';
import type { RolloutStopReason } from './stop-reason.js';
import { stepRewards, type Trajectory } from './trajectory.js';

/** How an episode that a limit ended is rewarded. */
export interface TerminationPolicy {
  /** Whether its total reward is at most 0. Default false. */
  readonly zeroRewardOnLimit?: boolean | undefined;
  /** Which reasons count as a limit. Default: turns, tokens, sampled tokens, tool calls and time. */
  readonly limitStopReasons?: readonly RolloutStopReason[] | undefined;
  /** The most seconds for `computeGroupRewards`. The group fails. Default: `envTimeoutSeconds`. */
  readonly graderTimeoutSeconds?: number | undefined;
  /** Whether a group is not graded when all of its episodes ran out of time. Default false. */
  readonly skipGradingOnTimeout?: boolean | undefined;
}

export const LIMIT_STOP_REASONS: readonly RolloutStopReason[] = [
  'max_tokens',
  'max_sampled_tokens',
  'max_turns',
  'max_tool_calls',
  'rollout_timeout',
];

/** The final reward of an episode under a policy. */
export function terminalReward(policy: TerminationPolicy, trajectory: Trajectory, graded: GroupReward): GroupReward {
  const { zeroRewardOnLimit = false, limitStopReasons = LIMIT_STOP_REASONS } = policy;
  const { stopReason } = trajectory;
  if (!zeroRewardOnLimit || stopReason === undefined || !limitStopReasons.includes(stopReason)) return graded;
  const steps = stepRewards(trajectory);
  if (steps + graded.reward <= 0) return graded;
  return { reward: -steps, metrics: { ...graded.metrics, zero_reward_on_limit: 1 } };
}
