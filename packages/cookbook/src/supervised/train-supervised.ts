import { toRendererTokenizer } from '@tinkex/renderers';
import { type RunFolder, readRun } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';
import { conversationDataset, type DataReport, renderConversation } from '../data/conversation-dataset.js';
import type { ConversationSplit } from '../data/conversation-source.js';
import type { SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { DecodingTokenizer } from '../evaluation/loss-metrics.js';
import { nllEvaluator } from '../evaluation/nll.js';
import { checkEvaluatorUsage } from '../loop/evaluations.js';
import { type OpenedTraining, openRenderer, openTraining } from '../loop/open-training.js';
import { INITIAL_STATE, positionOf, stepOf, type TrainingPlan, type TrainingState } from '../loop/plan.js';
import { runTraining, type TrainingRun } from '../loop/run-training.js';
import { type ResolvedConfig, resolveConfig, type SupervisedConfig, type SupervisedData } from './config.js';
import { configRecord, FIXED_FIELDS } from './config-record.js';
import { SupervisedDriver } from './driver.js';
import { openStream } from './open-stream.js';
import { positionRecord } from './position-record.js';
import { stateOfRecord } from './resume.js';
import { tokensOf } from './step-metrics.js';

/** What a supervised run has come to. */
export interface SupervisedRun extends TrainingRun {
  /** What the conversations consist of; undefined for a stream and for your own examples. */
  readonly report: DataReport | undefined;
}

/** Data as the driver uses it. */
interface OpenedData {
  readonly dataset: SupervisedDataset;
  readonly tokenizer: DecodingTokenizer;
  readonly test?: Evaluator | undefined;
  readonly report?: DataReport | undefined;
  readonly rendererName?: string | undefined;
  /** Rows of a stream. */
  readonly rows?: number | undefined;
  /** Ends what is still being read. */
  readonly close?: (() => Promise<void>) | undefined;
}

/**
 * Fine-tunes a model on examples, with checkpoints, evaluations and metrics in a run folder. Called again with the same `logPath` it continues the run
 * exactly where its last checkpoint was saved: no batch twice, none left out.
 *
 * @throws ConfigurationError or ValidationError for options and data that are wrong, before anything is trained; otherwise the server's error.
 */
export async function trainSupervised(options: SupervisedConfig): Promise<SupervisedRun> {
  const config = resolveConfig(options);
  const conversations = 'load' in config.data ? await config.data.load() : undefined;
  const previous = await readRun(config.logPath);
  const opened = await openTraining(config, previous.checkpoints);
  const data = await openData(config, opened, conversations);
  try {
    return await trainOn(data, config, opened, previous);
  } finally {
    await data.close?.();
  }
}

async function trainOn(
  { dataset, tokenizer, report, rendererName, rows = report?.rows, test }: OpenedData,
  config: ResolvedConfig,
  opened: OpenedTraining,
  previous: RunFolder,
): Promise<SupervisedRun> {
  if (report !== undefined) warnAboutData(report, config);
  const plan = makePlan(config, dataset);
  const evaluators = {
    frequent: test === undefined ? config.evaluators : [...config.evaluators, test],
    infrequent: config.infrequentEvaluators,
  };
  checkEvaluatorUsage([...evaluators.frequent, ...evaluators.infrequent], config.maxCostUsd);
  const { submitAhead, signal } = config;
  const run = await runTraining({
    config,
    opened,
    previous,
    record: configRecord(config, { rendererName, rows, batches: plan.epochSizes[0] ?? 0 }),
    fixedFields: FIXED_FIELDS,
    state: await resumedState(plan, dataset, opened, previous),
    positionOf: (state) => positionRecord(plan, state),
    drive: (parts, state) => new SupervisedDriver({ ...parts, plan, dataset, tokenizer, evaluators, submitAhead, signal }, state).run(),
  });
  return { ...run, report };
}

/** Says what becomes of conversations that are not trained on as they are. */
function warnAboutData(
  { rows, truncatedRows, droppedRows, rowsWithoutTarget }: DataReport,
  { onWarning, maxLength }: ResolvedConfig,
): void {
  const all = rows + droppedRows;
  if (truncatedRows > 0)
    onWarning(`${truncatedRows} of ${all} conversations are longer than maxLength (${maxLength}); they are cut.`, undefined);
  if (droppedRows > 0)
    onWarning(`${droppedRows} of ${all} conversations are longer than maxLength (${maxLength}); they are left out.`, undefined);
  if (rowsWithoutTarget > 0) {
    onWarning(`${rowsWithoutTarget} of ${all} conversations have no token to learn, for example because they have no answer.`, undefined);
  }
}

async function openData(
  config: ResolvedConfig,
  { training }: OpenedTraining,
  conversations: ConversationSplit | undefined,
): Promise<OpenedData> {
  if ('open' in config.data) return openStream(config.data, config, await openRenderer(config, training));
  if (conversations === undefined) {
    const { train, test } = config.data as SupervisedData;
    const tokenizer = config.renderer?.tokenizer ?? toRendererTokenizer(await training.getTokenizer());
    return { dataset: train, tokenizer, test: test && nllEvaluator(test, { tokenizer }) };
  }
  const renderer = await openRenderer(config, training);
  const { tokenizer, name: rendererName } = renderer;
  const options = { ...config, renderer };
  const { dataset, report } = conversationDataset(conversations.train, options);
  const test = conversations.test?.map((conversation) => renderConversation(conversation, options));
  return { dataset, tokenizer, report, rendererName, test: test && nllEvaluator(test, { tokenizer }) };
}

function makePlan(config: ResolvedConfig, dataset: SupervisedDataset): TrainingPlan {
  const epochSizes = Array.from({ length: config.numEpochs }, (_, epoch) => dataset.batchCount(epoch));
  const allSteps = stepOf({ epochSizes }, epochSizes.length, 0);
  if (allSteps === 0) {
    const message = 'The data has fewer examples than a batch. Lower batchSize, or add data.';
    throw new ConfigurationError({ option: 'batchSize', message });
  }
  const {
    learningRate,
    lrSchedule,
    warmupSteps,
    adam,
    evalEvery,
    infrequentEvalEvery,
    maxSteps = allSteps,
    maxTokens,
    maxSeconds,
  } = config;
  const maxMs = maxSeconds === undefined ? undefined : maxSeconds * 1_000;
  const totalSteps = Math.min(allSteps, maxSteps);
  return {
    epochSizes,
    totalSteps,
    learningRate,
    lrSchedule,
    warmupSteps,
    adam,
    evalEvery,
    infrequentEvalEvery,
    saves: config,
    maxTokens,
    maxMs,
  };
}

function resumedState(
  plan: TrainingPlan,
  dataset: SupervisedDataset,
  { record }: OpenedTraining,
  previous: RunFolder,
): Promise<TrainingState> {
  if (record === undefined) return Promise.resolve(INITIAL_STATE);
  return stateOfRecord(plan, record, previous, async (from, to) => {
    let tokens = 0;
    for (let step = from; step < to; step++) {
      const { epoch, batch } = positionOf(plan, step);
      if (epoch < plan.epochSizes.length) tokens += tokensOf(await dataset.getBatch(epoch, batch));
    }
    return tokens;
  });
}
