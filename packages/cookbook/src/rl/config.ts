import type { AdamParams, LossFnConfig, LossFnType } from '@tinkex/types';
import type { BatchDataset } from '../data/supervised-dataset.js';
import { checkOptions, definedOf, refuse } from '../loop/options.js';
import { resolveOptimizer, TRAIN_DEFAULTS, type TrainOptions } from '../loop/train-options.js';
import type { EnvGroup } from './environments/env.js';
import { type RolloutLimits, resolveLimits } from './rollouts/limits.js';
import { rolloutPreset } from './rollouts/presets.js';
import { failureRules, type RolloutStrategy } from './rollouts/strategy.js';
import type { TerminationPolicy } from './rollouts/termination.js';

/** The weights that a KL penalty compares with. */
export type KlReference = { readonly baseModel: string } | { readonly modelPath: string };

/** Options of `trainRl`. Defaults are the reference's. */
export interface RlConfig extends TrainOptions {
  /** Tasks to learn, such as `problem(…)`; or your own batches of them. */
  readonly dataset: readonly EnvGroup[] | BatchDataset<EnvGroup>;
  /** Tasks that are evaluated every `evalEvery` steps, as `test/env/…`, one episode each. */
  readonly testDataset?: readonly EnvGroup[] | undefined;
  /** Tasks per batch. Default 32. Without meaning for your own batches. */
  readonly groupsPerBatch?: number | undefined;
  /** Episodes per task. Default 8. */
  readonly groupSize?: number | undefined;
  /** Default 1. */
  readonly numEpochs?: number | undefined;
  /** Whether each epoch has another order of tasks, which depends only on the epoch. Default true. */
  readonly shuffle?: boolean | undefined;
  /** The most tokens of one action. */
  readonly maxTokens: number;
  /** Default 1. */
  readonly temperature?: number | undefined;
  /** Default `importance_sampling`. */
  readonly lossFn?: LossFnType | undefined;
  readonly lossFnConfig?: LossFnConfig | undefined;
  /** Optimizer steps per batch. Default 1. */
  readonly numSubsteps?: number | undefined;
  /** Above 1, a batch (or each of its substeps) is trained on in this many parts, each as soon as its episodes are played. Default 1. */
  readonly numMinibatches?: number | undefined;
  /**
   * How many steps older than the weights that train the weights that sample may be. Default 0: each batch is played with the newest weights. From 1 up,
   * later batches are played while a batch trains; they are started so that none is ever too old, and none is thrown away.
   */
  readonly maxStepsOffPolicy?: number | undefined;
  /** How strongly the policy is kept near `klReference`. Default 0. */
  readonly klPenaltyCoef?: number | undefined;
  /** Default 0: a token's penalty is its own. */
  readonly klDiscountFactor?: number | undefined;
  /** Needed with `klPenaltyCoef`. */
  readonly klReference?: KlReference | undefined;
  /** Whether to measure how far each step moved the policy. Default false. */
  readonly computePostKl?: boolean | undefined;
  /** Whether groups without a difference in reward are left out. Default false. */
  readonly removeConstantRewardGroups?: boolean | undefined;
  /** Default: those of the model's preset, which are none for most. */
  readonly limits?: RolloutLimits | undefined;
  /** What happens when an episode fails. Default: that of the model's preset, `fail-fast` for most. */
  readonly strategy?: RolloutStrategy | undefined;
  /** Default: that of the model's preset. */
  readonly termination?: TerminationPolicy | undefined;
  /** How many episodes are played at the same time. Default 1024. */
  readonly maxConcurrentEpisodes?: number | undefined;
  /**
   * Makes samples repeatable: a run that was interrupted continues with the very samples it would have had. Default 0; `null` leaves it to the server, as
   * the reference does.
   */
  readonly seed?: number | null | undefined;
  /** Whether the episodes are written to `iteration_NNNNNN/`. Default true. */
  readonly rolloutJsonExport?: boolean | undefined;
  /** How many groups of each iteration `iteration_NNNNNN/train.html` shows, to be read in a browser; 0 for no report. Default 4. */
  readonly numGroupsToLog?: number | undefined;
  /** Steps between evaluations, at step 0 first; 0 for none. Default 20. */
  readonly evalEvery?: number | undefined;
}

const DEFAULTS = {
  ...TRAIN_DEFAULTS,
  groupsPerBatch: 32,
  groupSize: 8,
  numEpochs: 1,
  shuffle: true,
  temperature: 1,
  lossFn: 'importance_sampling',
  numSubsteps: 1,
  numMinibatches: 1,
  maxStepsOffPolicy: 0,
  klPenaltyCoef: 0,
  klDiscountFactor: 0,
  computePostKl: false,
  removeConstantRewardGroups: false,
  maxConcurrentEpisodes: 1_024,
  rolloutJsonExport: true,
  numGroupsToLog: 4,
  evalEvery: 20,
} as const;

/** A configuration with its defaults. */
export type ResolvedRlConfig = Omit<RlConfig, keyof typeof DEFAULTS | 'learningRate' | 'adam' | 'limits' | 'strategy' | 'seed'> & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<RlConfig[Name]>;
} & {
  readonly learningRate: number;
  readonly adam: AdamParams;
  readonly limits: RolloutLimits;
  readonly strategy: RolloutStrategy;
  readonly seed: number | null;
};

/** @throws ConfigurationError that names the option, before anything is sent. */
export function resolveRlConfig(config: RlConfig): ResolvedRlConfig {
  checkOptions(config, {
    countsFromOne: ['maxTokens', 'groupsPerBatch', 'groupSize', 'numEpochs', 'numSubsteps', 'numMinibatches', 'maxConcurrentEpisodes'],
    countsFromZero: ['maxStepsOffPolicy', 'numGroupsToLog'],
    aboveZero: ['temperature'],
  });
  const preset = rolloutPreset(config.model);
  const { limits = preset.limits, strategy = preset.strategy, termination = preset.termination, seed = 0 } = config;
  resolveLimits(limits);
  failureRules(strategy);
  const resolved = {
    ...DEFAULTS,
    ...definedOf(config),
    limits,
    strategy,
    termination,
    seed,
    ...resolveOptimizer(config),
  } as ResolvedRlConfig;
  if (resolved.klPenaltyCoef !== 0 && resolved.klReference === undefined) {
    refuse('klReference', 'klPenaltyCoef needs klReference: { baseModel } or { modelPath } of the weights to stay near.');
  }
  const { groupsPerBatch, numSubsteps, numMinibatches } = resolved;
  if (numMinibatches > 1 && groupsPerBatch % (numSubsteps * numMinibatches) !== 0) {
    refuse(
      'numMinibatches',
      `groupsPerBatch (${groupsPerBatch}) must be a multiple of numSubsteps × numMinibatches (${numSubsteps * numMinibatches}).`,
    );
  }
  return resolved;
}
