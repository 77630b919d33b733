import type { SamplingClient } from '@tinkex/clients';
import { systemClock } from '@tinkex/http';
import type { Renderer } from '@tinkex/renderers';
import type { Usage } from '@tinkex/telemetry/runs';
import type { EvaluationContext, SamplingEvaluator } from '../evaluation/evaluator.js';
import { Semaphore } from '../loop/semaphore.js';
import type { EnvGroup } from './environments/env.js';

import { type Policy, samplingPolicy } from './rollouts/policy.js';
import { type GroupOptions, runGroup } from './rollouts/run-group.js';
import type { TrajectoryGroup } from './rollouts/trajectory.js';
import { sampleSeed } from './sample-seed.js';
import { trajectoryMetrics } from './trajectory-metrics.js';

/** Options of {@link rolloutEvaluator}. */
export interface RolloutEvaluatorOptions extends Pick<GroupOptions, 'limits' | 'strategy' | 'termination'> {
  readonly renderer: Renderer;
  /** The most tokens of one action. */
  readonly maxTokens: number;
  /** What the metrics begin with. Default `test`. */
  readonly name?: string | undefined;
  /** Default 1. */
  readonly temperature?: number | undefined;
  /** Episodes per task. Default 1. */
  readonly groupSize?: number | undefined;
  /** Default 1024. */
  readonly maxConcurrentEpisodes?: number | undefined;
  /** Makes the samples repeatable. Default: the server's choice. */
  readonly seed?: number | undefined;
  /** The most tokens that one evaluation uses. Needed by runs with `maxCostUsd`. */
  readonly usage?: Usage | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: GroupOptions['clock'] | undefined;
  /** Changes how actions are sampled. */
  readonly wrapPolicy?: ((policy: Policy) => Policy) | undefined;
  /** Called with what was played. */
  readonly onGroups?: ((groups: readonly TrajectoryGroup[], context: EvaluationContext) => void | Promise<void>) | undefined;
}

/** Plays tasks and measures the episodes: `<name>/env/…`. Groups that failed are counted as `<name>/env/all/failed_groups`. */
export function rolloutEvaluator(groups: readonly EnvGroup[], options: RolloutEvaluatorOptions): SamplingEvaluator {
  const { renderer, name = 'test', groupSize = 1, maxConcurrentEpisodes = 1_024, clock = systemClock, seed, usage } = options;
  const { limits, strategy, termination, signal = new AbortController().signal, wrapPolicy = (policy) => policy, onGroups } = options;
  return {
    kind: 'sampling',
    usage,
    async evaluate(client: Pick<SamplingClient, 'sample'>, evaluation: EvaluationContext = {}) {
      const episodes = new Semaphore(maxConcurrentEpisodes);
      const policy = wrapPolicy(samplingPolicy(client, options));
      const context = { renderer, groupSize, signal };
      const outcomes = await Promise.all(
        groups.map((group, index) => {
          const seedOf = seed === undefined ? undefined : (...place: number[]) => sampleSeed(seed, index, ...place);
          return runGroup(group, { context, policy, limits, strategy, termination, clock, episodes, seedOf });
        }),
      );
      const played = outcomes.filter((outcome): outcome is TrajectoryGroup => 'trajectories' in outcome);
      await onGroups?.(played, evaluation);
      const failed = outcomes.length - played.length;
      const metrics = { ...trajectoryMetrics(played), ...(failed > 0 && { 'env/all/failed_groups': failed }) };
      return Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`${name}/${key}`, value]));
    },
  };
}
