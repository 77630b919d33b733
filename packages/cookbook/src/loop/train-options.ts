import type { ServiceClient } from '@tinkex/clients';
import type { Clock } from '@tinkex/http';
import { getLr, type Renderer } from '@tinkex/renderers';
import type { JsonRecord, Metrics, MetricsSink } from '@tinkex/telemetry/runs';
import type { AdamParams } from '@tinkex/types';
import { checkSpendingLimits, type SpendingLimits } from '../budget/spending.js';
import type { CheckpointLifetimes } from '../checkpoints/checkpointer.js';
import type { SavePolicy } from '../checkpoints/save-policy.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import { checkOptions, refuse } from './options.js';

/** Options that all training loops share. Defaults are the reference's. */
export interface TrainOptions extends SavePolicy, CheckpointLifetimes, SpendingLimits {
  readonly service: ServiceClient;
  /** The base model. */
  readonly model: string;
  /** The run folder. A run that is there already continues. */
  readonly logPath: string;
  /** How conversations become tokens. Default: the renderer of the model. */
  readonly renderer?: Renderer | undefined;
  /** The same by name. */
  readonly rendererName?: string | undefined;
  /** Default `auto`: from the table of models, which refuses to guess for a model without a measured one. */
  readonly learningRate?: number | 'auto' | undefined;
  /** The other parameters of the optimizer. Default β 0.9 and 0.95, ε 1e-8. */
  readonly adam?: Omit<AdamParams, 'learningRate'> | undefined;
  /** Default 32. */
  readonly loraRank?: number | undefined;
  /** Steps between evaluations, at step 0 first; 0 for none. */
  readonly evalEvery?: number | undefined;
  readonly evaluators?: readonly Evaluator[] | undefined;
  /** Steps between saves. Default 20. */
  readonly saveEvery?: number | undefined;
  /** Default: all data. A finished run continues when you raise it. */
  readonly maxSteps?: number | undefined;
  /** The most seconds to train, over all processes of the run. */
  readonly maxSeconds?: number | undefined;
  /** Weights to start from, `tinker://…/weights/…`. The optimizer starts without state. */
  readonly loadCheckpointPath?: string | undefined;
  /** Where metrics are written besides the run folder. */
  readonly sinks?: readonly MetricsSink[] | undefined;
  /** Called after each step. */
  readonly onStep?: ((step: number, metrics: Metrics) => void) | undefined;
  /** Called for problems that do not end the run. Default: a warning of the process. */
  readonly onWarning?: ((message: string, cause: unknown) => void) | undefined;
  /** Stops after the steps that are submitted, saves, and returns. The run continues from there when you start it again. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** The defaults that all loops share. */
export const TRAIN_DEFAULTS = {
  loraRank: 32,
  saveEvery: 20,
  evaluators: [],
  sinks: [],
  onWarning: (message: string, cause: unknown) => process.emitWarning(cause === undefined ? message : `${message} ${String(cause)}`),
} as const;

const DEFAULT_ADAM = { beta1: 0.9, beta2: 0.95, eps: 1e-8 };

/** Shared options with their defaults. */
export type ResolvedTrainOptions = Omit<TrainOptions, keyof typeof TRAIN_DEFAULTS | 'learningRate' | 'adam' | 'evalEvery'> & {
  readonly [Name in keyof typeof TRAIN_DEFAULTS]: NonNullable<TrainOptions[Name]>;
} & { readonly learningRate: number; readonly adam: AdamParams; readonly evalEvery: number };

/** What a loop takes from the shared options, checked. Throws a `ConfigurationError` that names the option. */
export function resolveOptimizer(options: TrainOptions): { readonly learningRate: number; readonly adam: AdamParams } {
  checkOptions(options, {
    countsFromOne: ['loraRank', 'maxSteps'],
    countsFromZero: ['evalEvery', 'saveEvery', 'rollingSaveEvery', 'saveEveryTokens'],
    aboveZero: ['maxSeconds'],
  });
  if (options.renderer !== undefined && options.rendererName !== undefined) refuse('rendererName', 'Set either renderer or rendererName.');
  checkSpendingLimits(options);
  const { learningRate = 'auto', adam } = options;
  const rate = learningRate === 'auto' ? getLr(options.model) : learningRate;
  if (!(rate > 0)) refuse('learningRate', `learningRate must be above 0; got ${rate}.`);
  return { learningRate: rate, adam: { ...DEFAULT_ADAM, ...adam } };
}

/** The shared part of `config.json`, under the reference's names. */
export function trainConfigRecord(config: ResolvedTrainOptions): JsonRecord {
  return {
    log_path: config.logPath,
    model_name: config.model,
    load_checkpoint_path: config.loadCheckpointPath ?? null,
    learning_rate: config.learningRate,
    lora_rank: config.loraRank,
    base_url: config.service.baseUrl,
    save_every: config.saveEvery,
    save_every_tokens: config.saveEveryTokens ?? 0,
    save_every_seconds: config.saveEverySeconds ?? 0,
    eval_every: config.evalEvery,
    ttl_seconds: config.ttlSeconds,
    rolling_save_every: config.rollingSaveEvery ?? 0,
    rolling_ttl_seconds: config.rollingTtlSeconds,
    adam_beta1: config.adam.beta1,
    adam_beta2: config.adam.beta2,
    adam_eps: config.adam.eps,
    max_steps: config.maxSteps ?? null,
    max_seconds: config.maxSeconds ?? null,
    max_cost_usd: config.maxCostUsd ?? null,
  };
}
