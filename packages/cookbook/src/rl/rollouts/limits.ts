import { checkOptions } from '../../loop/options.js';

/** Where an episode ends, whatever its environment says. No limit unless you set one, but for {@link RolloutLimits.envTimeoutSeconds}. */
export interface RolloutLimits {
  readonly maxTurns?: number | undefined;
  /** The most tokens of an observation and the action that follows it. */
  readonly maxTrajectoryTokens?: number | undefined;
  /** The most tokens that the model samples in an episode. */
  readonly maxSampledTokens?: number | undefined;
  /** The most calls of tools in an episode. Kept by environments with tools. */
  readonly maxToolCalls?: number | undefined;
  /** The most tokens of one action. An action that is cut does not end the episode. */
  readonly maxTurnTokens?: number | undefined;
  /** The most seconds of an episode, which is kept as far as it came. */
  readonly rolloutTimeoutSeconds?: number | undefined;
  /** The most seconds for one action. The rollout fails. */
  readonly samplingTurnTimeoutSeconds?: number | undefined;
  /** The most seconds for one call of an environment. The rollout fails. Default 600. */
  readonly envTimeoutSeconds?: number | undefined;
}

const DEFAULT_ENV_TIMEOUT_SECONDS = 600;
const COUNTS = ['maxTurns', 'maxTrajectoryTokens', 'maxSampledTokens', 'maxToolCalls', 'maxTurnTokens'] as const;
const SECONDS = ['rolloutTimeoutSeconds', 'samplingTurnTimeoutSeconds', 'envTimeoutSeconds'] as const;

/** Limits with their defaults. Throws a `ConfigurationError` unless all are above 0. */
export function resolveLimits(limits: RolloutLimits): RolloutLimits & { readonly envTimeoutSeconds: number } {
  checkOptions(limits, { countsFromOne: COUNTS, aboveZero: SECONDS });
  return { ...limits, envTimeoutSeconds: limits.envTimeoutSeconds ?? DEFAULT_ENV_TIMEOUT_SECONDS };
}

/** Why no turn follows with the tokens that are left, or how many the next action may have; undefined for no limit. */
export function tokensOfTurn(
  { maxTrajectoryTokens, maxSampledTokens, maxTurnTokens }: RolloutLimits,
  { observationTokens, sampledTokens }: { readonly observationTokens: number; readonly sampledTokens: number },
): number | undefined | 'max_tokens' | 'max_sampled_tokens' {
  const ofTrajectory = maxTrajectoryTokens === undefined ? undefined : maxTrajectoryTokens - observationTokens;
  const ofSampled = maxSampledTokens === undefined ? undefined : maxSampledTokens - sampledTokens;
  // A single token is rarely an answer, and the reference stops there too.
  if (ofTrajectory !== undefined && ofTrajectory <= 1) return 'max_tokens';
  if (ofSampled !== undefined && ofSampled <= 1) return 'max_sampled_tokens';
  const allowed = [maxTurnTokens, ofTrajectory, ofSampled].filter((tokens) => tokens !== undefined);
  return allowed.length === 0 ? undefined : Math.min(...allowed);
}
