import type { AdamParams, Datum } from '@tinkex/types';
import type { RenderOptions } from '../data/conversation-dataset.js';
import type { ConversationSource } from '../data/conversation-source.js';
import type { ConversationStream } from '../data/conversation-stream.js';
import type { BatchOptions, SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { LrSchedule } from '../loop/lr-schedule.js';
import { checkOptions, definedOf, refuse } from '../loop/options.js';
import { resolveOptimizer, TRAIN_DEFAULTS, type TrainOptions } from '../loop/train-options.js';

/** Examples that are tokens already. */
export interface SupervisedData {
  readonly train: SupervisedDataset;
  /** Evaluated every `evalEvery` steps as `test/nll`. */
  readonly test?: readonly Datum[] | undefined;
}

/** Options of `trainSupervised`. Defaults are the reference's. */
export interface SupervisedConfig extends TrainOptions, Omit<RenderOptions, 'renderer'>, Omit<BatchOptions, 'shuffle'> {
  /** Conversations, from `conversationsFromJsonl`, `conversationsFrom` or `conversationStream`, or your own examples. */
  readonly data: ConversationSource | ConversationStream | SupervisedData;
  /** Conversations per batch. Default 128, unless `batchTokens` is set. */
  readonly batchSize?: number | undefined;
  /** Default 1. */
  readonly numEpochs?: number | undefined;
  /** Default `linear`. It ends at `maxSteps` if that is set. */
  readonly lrSchedule?: LrSchedule | undefined;
  /** Steps in which the learning rate rises. Default 0. */
  readonly warmupSteps?: number | undefined;
  /** Steps between evaluations, at step 0 first; 0 for none. Default 10. */
  readonly evalEvery?: number | undefined;
  /** Default 100. */
  readonly infrequentEvalEvery?: number | undefined;
  readonly infrequentEvaluators?: readonly Evaluator[] | undefined;
  /** How many steps are submitted before the oldest is awaited. Default 1. */
  readonly submitAhead?: number | undefined;
  /** The most tokens to train on. Steps that would exceed it are not submitted. */
  readonly maxTokens?: number | undefined;
}

const DEFAULTS = {
  ...TRAIN_DEFAULTS,
  numEpochs: 1,
  lrSchedule: 'linear',
  warmupSteps: 0,
  evalEvery: 10,
  infrequentEvalEvery: 100,
  submitAhead: 1,
  infrequentEvaluators: [],
} as const;
const DEFAULT_BATCH_SIZE = 128;

/** A configuration with its defaults. */
export type ResolvedConfig = Omit<SupervisedConfig, keyof typeof DEFAULTS | 'learningRate' | 'adam'> & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<SupervisedConfig[Name]>;
} & { readonly learningRate: number; readonly adam: AdamParams };

/** @throws ConfigurationError that names the option, before anything is sent. */
export function resolveConfig(config: SupervisedConfig): ResolvedConfig {
  checkOptions(config, {
    countsFromOne: ['batchSize', 'batchTokens', 'numEpochs', 'maxTokens', 'maxLength'],
    countsFromZero: ['warmupSteps', 'infrequentEvalEvery', 'submitAhead'],
  });
  if (config.batchSize !== undefined && config.batchTokens !== undefined) refuse('batchTokens', 'Set either batchSize or batchTokens.');
  if ('open' in config.data) checkStream(config, config.data);
  const { batchTokens, batchSize = batchTokens === undefined ? DEFAULT_BATCH_SIZE : undefined } = config;
  return { ...DEFAULTS, ...definedOf(config), batchSize, ...resolveOptimizer(config) } as ResolvedConfig;
}

/** What needs all conversations before the first step does not go with a stream. */
function checkStream({ batchTokens, tooLong }: SupervisedConfig, data: ConversationStream): void {
  checkOptions(data, { countsFromOne: ['length', 'bufferSize'], countsFromZero: ['testSize'] });
  if (batchTokens !== undefined) refuse('batchTokens', 'A stream has batches of batchSize conversations: set that instead of batchTokens.');
  if (tooLong === 'drop')
    refuse('tooLong', "A stream cannot leave conversations out. Set tooLong to 'truncate' or 'refuse', or filter the stream.");
}
