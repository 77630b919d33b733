import { type Clock, onAbort } from '@tinkex/http';
import { AbortedError } from '@tinkex/types';
import { RunStop } from '../../loop/run-stop.js';
import type { Semaphore } from '../../loop/semaphore.js';
import { withTimeLimit } from '../../loop/time-limit.js';
import type { Env, EnvContext, EnvGroup, GroupReward } from '../environments/env.js';
import { type RolloutLimits, resolveLimits } from './limits.js';
import type { Policy } from './policy.js';
import { runRollout } from './run-rollout.js';
import { type FailureRules, failureRules, type RolloutStrategy } from './strategy.js';
import { type TerminationPolicy, terminalReward } from './termination.js';
import { TooFewEpisodesError } from './too-few-episodes-error.js';
import type { Trajectory, TrajectoryGroup } from './trajectory.js';

/** What the rollouts of groups run with. */
export interface GroupOptions {
  readonly context: EnvContext;
  readonly policy: Policy;
  readonly limits?: RolloutLimits | undefined;
  /** Default `fail-fast`. */
  readonly strategy?: RolloutStrategy | undefined;
  readonly termination?: TerminationPolicy | undefined;
  readonly clock: Clock;
  /** Shared by all groups: how many episodes are played at the same time. */
  readonly episodes: Semaphore;
  /** The seed of an action. Default: the server's choice. */
  readonly seedOf?: ((episode: number, attempt: number, turn: number) => number) | undefined;
  /** How many training steps the policy's weights have taken. Default 0. */
  readonly samplerStep?: number | undefined;
  /** Called when `cleanup` fails. */
  readonly onWarning?: ((message: string, cause: unknown) => void) | undefined;
}

/** A group that could not be completed. */
export interface FailedGroup {
  /** All failures, of which the last one ended the group. */
  readonly errors: readonly unknown[];
}

/**
 * Plays the episodes of a group and computes its rewards. A failure ends in a retry, a smaller group, a {@link FailedGroup}, or with `fail-fast` in a
 * rejection, as the strategy says. Always cleans up.
 */
export async function runGroup(group: EnvGroup, options: GroupOptions): Promise<TrajectoryGroup | FailedGroup> {
  const rules = failureRules(options.strategy ?? 'fail-fast');
  const errors: unknown[] = [];
  try {
    return await playGroup(group, options, rules, errors);
  } catch (error) {
    if (rules.isFatal || mustEndRun(error, options.context.signal)) throw error;
    const isCounted = errors.includes(error) || error instanceof TooFewEpisodesError;
    return { errors: isCounted ? errors : [...errors, error] };
  } finally {
    await cleanUp(group, options);
  }
}

interface Episode {
  readonly env: Env;
  readonly trajectory: Trajectory;
}

async function playGroup(group: EnvGroup, options: GroupOptions, rules: FailureRules, errors: unknown[]): Promise<TrajectoryGroup> {
  const { envTimeoutSeconds } = resolveLimits(options.limits ?? {});
  const makeEnvs = () => callGroup(options, 'makeEnvs', envTimeoutSeconds, () => group.makeEnvs(options.context));
  const play = rules.leastSuccesses === undefined ? playAll : playEnough;
  const episodes = await play(await makeEnvs(), { options, rules, errors, makeEnv: async () => (await makeEnvs())[0] as Env });
  return gradeGroup(group, episodes, options, errors);
}

interface PlayParts {
  readonly options: GroupOptions;
  readonly rules: FailureRules;
  /** Collects failures. */
  readonly errors: unknown[];
  /** A fresh episode for a retry. */
  readonly makeEnv: () => Promise<Env>;
}

/** All episodes, each played again as soon as it failed while the group has retries left. The first failure after that ends the others. */
async function playAll(envs: readonly Env[], { options, rules, errors, makeEnv }: PlayParts): Promise<Episode[]> {
  const others = new AbortController();
  const { signal } = options.context;
  if (signal.aborted) others.abort(signal.reason);
  const stopFollowing = onAbort(signal, () => others.abort(signal.reason));
  let retriesLeft = rules.maxRetries;
  try {
    return await Promise.all(
      envs.map(async (first, index) => {
        let env = first;
        for (let attempt = 0; ; attempt++) {
          try {
            return await playEpisode(env, { index, attempt }, options, others.signal);
          } catch (error) {
            if (others.signal.aborted) throw error;
            errors.push(error);
            if (mustEndRun(error, signal) || retriesLeft-- <= 0) throw error;
          }
          env = await makeEnv();
        }
      }),
    );
  } finally {
    stopFollowing();
    others.abort();
  }
}

/** Enough episodes: failed ones are played again, all together, while too few have succeeded. What is retried does not depend on who fails first. */
async function playEnough(envs: readonly Env[], { options, rules, errors, makeEnv }: PlayParts): Promise<Episode[]> {
  const { signal } = options.context;
  const needed = rules.leastSuccesses?.(envs.length) ?? envs.length;
  const episodes: (Episode | undefined)[] = envs.map(() => undefined);
  let pending = envs.map((env, index) => ({ env, index }));
  let retriesLeft = rules.maxRetries;
  for (let attempt = 0; ; attempt++) {
    const outcomes = await Promise.allSettled(pending.map(({ env, index }) => playEpisode(env, { index, attempt }, options, signal)));
    const failed: number[] = [];
    for (const [position, outcome] of outcomes.entries()) {
      const { index } = pending[position] as { readonly index: number };
      if (outcome.status === 'fulfilled') episodes[index] = outcome.value;
      else {
        if (mustEndRun(outcome.reason, signal)) throw outcome.reason;
        errors.push(outcome.reason);
        failed.push(index);
      }
    }
    const succeeded = episodes.filter((episode) => episode !== undefined);
    if (succeeded.length >= needed) return succeeded;
    const retried = failed.slice(0, retriesLeft);
    if (retried.length === 0) throw new TooFewEpisodesError(succeeded.length, needed, errors.at(-1));
    retriesLeft -= retried.length;
    pending = [];
    for (const index of retried) pending.push({ env: await makeEnv(), index });
  }
}

async function playEpisode(
  env: Env,
  { index, attempt }: { readonly index: number; readonly attempt: number },
  { policy, limits, clock, episodes, seedOf }: GroupOptions,
  signal: AbortSignal,
): Promise<Episode> {
  const seedOfTurn = seedOf && ((turn: number) => seedOf(index, attempt, turn));
  const trajectory = await episodes.run(() => runRollout(env, { policy, limits, clock, signal, seedOf: seedOfTurn }));
  return { env, trajectory };
}

async function gradeGroup(
  group: EnvGroup,
  episodes: readonly Episode[],
  options: GroupOptions,
  errors: readonly unknown[],
): Promise<TrajectoryGroup> {
  const { termination = {}, limits = {}, samplerStep = 0 } = options;
  const { graderTimeoutSeconds = resolveLimits(limits).envTimeoutSeconds, skipGradingOnTimeout = false } = termination;
  const trajectories = episodes.map(({ trajectory }) => trajectory);
  const isSkipped = skipGradingOnTimeout && trajectories.every(({ stopReason }) => stopReason === 'rollout_timeout');
  let graded: readonly GroupReward[] = [];
  if (group.computeGroupRewards !== undefined && !isSkipped) {
    const envs = episodes.map(({ env }) => env);
    graded = await callGroup(
      options,
      'computeGroupRewards',
      graderTimeoutSeconds,
      () => group.computeGroupRewards?.(trajectories, envs) ?? [],
    );
  }
  const rewards = trajectories.map((trajectory, index) => terminalReward(termination, trajectory, graded[index] ?? { reward: 0 }));
  return {
    trajectories,
    finalRewards: rewards.map(({ reward }) => reward),
    finalMetrics: rewards.map(({ metrics = {} }) => metrics),
    errors,
    tags: group.tags ?? [],
    samplerStep,
    task: group,
  };
}

function callGroup<T>(
  { clock, context: { signal } }: GroupOptions,
  call: string,
  timeoutSeconds: number,
  work: () => T | PromiseLike<T>,
): Promise<Awaited<T>> {
  return withTimeLimit(work, { what: `${call}() of the group`, timeoutMs: timeoutSeconds * 1_000, clock, signal });
}

/** A failed cleanup is reported and changes nothing: the episodes are played. */
async function cleanUp(group: EnvGroup, { clock, limits, onWarning }: GroupOptions): Promise<void> {
  const timeoutMs = resolveLimits(limits ?? {}).envTimeoutSeconds * 1_000;
  try {
    await withTimeLimit(() => group.cleanup?.(), { what: 'cleanup() of the group', timeoutMs, clock });
  } catch (error) {
    onWarning?.('A group could not be cleaned up.', error);
  }
}

/** Whether an error is not the fault of an episode: the run was aborted, or may not spend more. */
function mustEndRun(error: unknown, signal: AbortSignal): boolean {
  return error instanceof RunStop || (AbortedError.isInstance(error) && signal.aborted);
}
