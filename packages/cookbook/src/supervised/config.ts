import type { ServiceClient } from '@tinkex/clients';
import type { Clock } from '@tinkex/http';
import { getLr, type Renderer } from '@tinkex/renderers';
import type { Metrics, MetricsSink } from '@tinkex/telemetry/runs';
import { type AdamParams, ConfigurationError, type Datum } from '@tinkex/types';
import { checkSpendingLimits, type SpendingLimits } from '../budget/spending.js';
import type { CheckpointLifetimes } from '../checkpoints/checkpointer.js';
import type { SavePolicy } from '../checkpoints/save-policy.js';
import type { RenderOptions } from '../data/conversation-dataset.js';
import type { ConversationSource } from '../data/conversation-source.js';
import type { BatchOptions, SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { LrSchedule } from './lr-schedule.js';

/** Examples that are tokens already. */
export interface SupervisedData {
  readonly train: SupervisedDataset;
  /** Evaluated every `evalEvery` steps as `test/nll`. */
  readonly test?: readonly Datum[] | undefined;
}

/** Options of `trainSupervised`. Defaults are the reference's. */
export interface SupervisedConfig
  extends Omit<RenderOptions, 'renderer'>,
    Omit<BatchOptions, 'shuffle'>,
    SavePolicy,
    CheckpointLifetimes,
    SpendingLimits {
  readonly service: ServiceClient;
  /** The base model. */
  readonly model: string;
  /** Conversations, from `conversationsFromJsonl` or `conversationsFrom`, or your own examples. */
  readonly data: ConversationSource | SupervisedData;
  /** The run folder. A run that is there already continues. */
  readonly logPath: string;
  /** How conversations become tokens. Default: the renderer of the model. */
  readonly renderer?: Renderer | undefined;
  /** The same by name. */
  readonly rendererName?: string | undefined;
  /** Conversations per batch. Default 128, unless `batchTokens` is set. */
  readonly batchSize?: number | undefined;
  /** Default 1. */
  readonly numEpochs?: number | undefined;
  /** Default `auto`: from the table of models, which refuses to guess for a model without a measured one. */
  readonly learningRate?: number | 'auto' | undefined;
  /** Default `linear`. */
  readonly lrSchedule?: LrSchedule | undefined;
  /** Steps in which the learning rate rises. Default 0. */
  readonly warmupSteps?: number | undefined;
  /** The other parameters of the optimizer. Default β 0.9 and 0.95, ε 1e-8. */
  readonly adam?: Omit<AdamParams, 'learningRate'> | undefined;
  /** Default 32. */
  readonly loraRank?: number | undefined;
  /** Steps between evaluations, at step 0 first; 0 for none. Default 10. */
  readonly evalEvery?: number | undefined;
  /** Default 100. */
  readonly infrequentEvalEvery?: number | undefined;
  readonly evaluators?: readonly Evaluator[] | undefined;
  readonly infrequentEvaluators?: readonly Evaluator[] | undefined;
  /** Steps between saves. Default 20. */
  readonly saveEvery?: number | undefined;
  /** How many steps are submitted before the oldest is awaited. Default 1. */
  readonly submitAhead?: number | undefined;
  /** Default: all epochs. The schedule of the learning rate ends there too. A finished run continues when you raise it. */
  readonly maxSteps?: number | undefined;
  /** The most tokens to train on. Steps that would exceed it are not submitted. */
  readonly maxTokens?: number | undefined;
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

const DEFAULTS = {
  numEpochs: 1,
  lrSchedule: 'linear',
  warmupSteps: 0,
  loraRank: 32,
  evalEvery: 10,
  infrequentEvalEvery: 100,
  saveEvery: 20,
  submitAhead: 1,
  evaluators: [],
  infrequentEvaluators: [],
  sinks: [],
  onWarning: (message: string, cause: unknown) => process.emitWarning(`${message} ${String(cause)}`),
} as const;
const DEFAULT_BATCH_SIZE = 128;
const DEFAULT_ADAM = { beta1: 0.9, beta2: 0.95, eps: 1e-8 };

const COUNTS_FROM_ONE = ['batchSize', 'batchTokens', 'numEpochs', 'loraRank', 'maxSteps', 'maxTokens', 'maxLength'] as const;
const COUNTS_FROM_ZERO = [
  'warmupSteps',
  'evalEvery',
  'infrequentEvalEvery',
  'saveEvery',
  'rollingSaveEvery',
  'saveEveryTokens',
  'submitAhead',
] as const;

/** A configuration with its defaults. */
export type ResolvedConfig = Omit<SupervisedConfig, keyof typeof DEFAULTS | 'learningRate' | 'adam'> & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<SupervisedConfig[Name]>;
} & { readonly learningRate: number; readonly adam: AdamParams };

/** @throws ConfigurationError that names the option, before anything is sent. */
export function resolveConfig(config: SupervisedConfig): ResolvedConfig {
  for (const name of COUNTS_FROM_ONE) checkCount(name, config[name], 1);
  for (const name of COUNTS_FROM_ZERO) checkCount(name, config[name], 0);
  if (config.batchSize !== undefined && config.batchTokens !== undefined) refuse('batchTokens', 'Set either batchSize or batchTokens.');
  if (config.renderer !== undefined && config.rendererName !== undefined) refuse('rendererName', 'Set either renderer or rendererName.');
  if (config.maxSeconds !== undefined && !(config.maxSeconds > 0)) refuse('maxSeconds', 'maxSeconds must be above 0.');
  checkSpendingLimits(config);
  const { learningRate = 'auto', adam, batchTokens, batchSize = batchTokens === undefined ? DEFAULT_BATCH_SIZE : undefined } = config;
  const rate = learningRate === 'auto' ? getLr(config.model) : learningRate;
  if (!(rate > 0)) refuse('learningRate', `learningRate must be above 0; got ${rate}.`);
  const resolved = { ...DEFAULTS, ...definedOf(config), batchSize, learningRate: rate, adam: { ...DEFAULT_ADAM, ...adam } };
  return resolved as ResolvedConfig;
}

/** An option that is undefined is the same as one that is not there. */
function definedOf(config: SupervisedConfig): Partial<SupervisedConfig> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

function checkCount(option: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return;
  refuse(option, `${option} must be a whole number from ${least} up; got ${value}.`);
}

function refuse(option: string, message: string): never {
  throw new ConfigurationError({ option, message });
}
