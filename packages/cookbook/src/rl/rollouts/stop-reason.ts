/** Why an episode ended. An environment names its reason with a metric `stop/<reason>` of 1. */
export const STOP_REASONS = [
  'completed',
  'tool_stopped',
  'max_turns',
  'max_tokens',
  'max_sampled_tokens',
  'max_tool_calls',
  'context_overflow',
  'parse_error',
  'rollout_timeout',
] as const;

/** Why an episode ended. */
export type RolloutStopReason = (typeof STOP_REASONS)[number];

const PREFIX = 'stop/';

/** The metric that names a reason. */
export function stopMetric(reason: RolloutStopReason): Readonly<Record<string, number>> {
  return { [`${PREFIX}${reason}`]: 1 };
}

/** The reason that metrics name, if any. */
export function stopReasonOf(metrics: Readonly<Record<string, number>>): RolloutStopReason | undefined {
  return STOP_REASONS.find((reason) => metrics[`${PREFIX}${reason}`] === 1);
}

/** Metrics with another reason than the one they name. */
export function withStopReason(metrics: Readonly<Record<string, number>>, reason: RolloutStopReason): Readonly<Record<string, number>> {
  const others = Object.entries(metrics).filter(([name]) => !name.startsWith(PREFIX));
  return { ...Object.fromEntries(others), ...stopMetric(reason) };
}
