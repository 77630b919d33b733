import { systemClock } from '@tinkex/http';
import { toRendererTokenizer } from '@tinkex/renderers';
import { type Metrics, type RunFolder, RunWriter, readRun } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';
import { Spending } from '../budget/spending.js';
import { Checkpointer } from '../checkpoints/checkpointer.js';
import { checkpointName } from '../checkpoints/save-policy.js';
import { conversationDataset, type DataReport, renderConversation } from '../data/conversation-dataset.js';
import type { ConversationSplit } from '../data/conversation-source.js';
import type { SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { DecodingTokenizer } from '../evaluation/loss-metrics.js';
import { nllEvaluator } from '../evaluation/nll.js';
import { type ResolvedConfig, resolveConfig, type SupervisedConfig, type SupervisedData } from './config.js';
import { checkSameRun, configRecord } from './config-record.js';
import { SupervisedDriver } from './driver.js';
import { type OpenedTraining, openRenderer, openTraining } from './open-training.js';
import { INITIAL_STATE, positionOf, type StopReason, type SupervisedPlan, type SupervisedState, stepOf } from './plan.js';
import { isSavedAt, positionRecord, stateOfRecord } from './resume.js';
import { tokensOf } from './step-metrics.js';

/** What a supervised run has come to. */
export interface SupervisedRun {
  readonly logPath: string;
  /** Steps that the weights have taken. */
  readonly step: number;
  /** Tokens of these steps. */
  readonly tokens: number;
  readonly stopReason: StopReason;
  /** Weights to continue from. */
  readonly statePath: string | undefined;
  /** Weights to sample from. */
  readonly samplerPath: string | undefined;
  /** Metrics of the last step. */
  readonly metrics: Metrics;
  /** What the conversations consist of; undefined for your own examples. */
  readonly report: DataReport | undefined;
}

/** Data as the driver uses it. */
interface OpenedData {
  readonly dataset: SupervisedDataset;
  readonly tokenizer: DecodingTokenizer;
  readonly test?: Evaluator | undefined;
  readonly report?: DataReport | undefined;
  readonly rendererName?: string | undefined;
}

/**
 * Fine-tunes a model on examples, with checkpoints, evaluations and metrics in a run folder. Called again with the same `logPath` it continues the run
 * exactly where its last checkpoint was saved: no batch twice, none left out.
 *
 * @throws ConfigurationError or ValidationError for options and data that are wrong, before anything is trained; otherwise the server's error.
 */
export async function trainSupervised(options: SupervisedConfig): Promise<SupervisedRun> {
  const config = resolveConfig(options);
  const { sinks } = config;
  const conversations = 'load' in config.data ? await config.data.load() : undefined;
  const previous = await readRun(config.logPath);
  const opened = await openTraining(config, previous.checkpoints);
  const data = await openData(config, opened, conversations);
  const plan = makePlan(config, data.dataset);
  const facts = { rendererName: data.rendererName, rows: data.report?.rows, batches: plan.epochSizes[0] ?? 0 };
  const record = configRecord(config, facts);
  if (opened.record !== undefined && previous.config !== undefined) checkSameRun(previous.config, record);
  const evaluators = budgetedEvaluators(config, data);
  const writer = await RunWriter.open(config.logPath);
  try {
    const state = await resumedState(plan, data.dataset, opened, previous);
    await writer.rewindMetrics(state.step);
    await writer.writeConfig(record);
    for (const sink of sinks) await sink.logConfig?.(record);
    return await runPlan({ config, opened, data, plan, evaluators, writer, state, previous });
  } finally {
    await writer.close();
    for (const sink of sinks) await sink.close?.();
  }
}

interface PreparedRun {
  readonly config: ResolvedConfig;
  readonly opened: OpenedTraining;
  readonly data: OpenedData;
  readonly plan: SupervisedPlan;
  readonly evaluators: { readonly frequent: readonly Evaluator[]; readonly infrequent: readonly Evaluator[] };
  readonly writer: RunWriter;
  readonly state: SupervisedState;
  readonly previous: RunFolder;
}

async function runPlan({ config, opened, data, plan, evaluators, writer, state: start, previous }: PreparedRun): Promise<SupervisedRun> {
  const { service, logPath, sinks, submitAhead, onStep, signal, clock = systemClock, onWarning } = config;
  const { training, record: resumed } = opened;
  const rest = service.createRestClient();
  const deleteCheckpoint = (path: string) => rest.deleteCheckpointFromTinkerPath(path);
  const rollingPath = resumed?.extra.rolling === true ? resumed.statePath : undefined;
  const checkpointer = new Checkpointer({ ...config, training, writer, deleteCheckpoint, onWarning }, rollingPath);
  const spending = await Spending.open(writer, config);
  const { dataset, tokenizer, report } = data;
  const parts = {
    plan,
    dataset,
    training,
    tokenizer,
    evaluators,
    checkpointer,
    spending,
    writer,
    sinks,
    clock,
    submitAhead,
    onStep,
    signal,
  };
  const { state, stopReason, metrics, record: saved } = await new SupervisedDriver(parts, start).run();
  let last = saved ?? resumed;
  const isSaved = last !== undefined && last.extra.rolling !== true && isSavedAt(last, state.step);
  if (!(isSaved && (stopReason === 'aborted' || last?.final === true))) {
    const name = stopReason === 'aborted' ? `${checkpointName(state.step)}${isSavedAt(saved, state.step) ? '-stopped' : ''}` : 'final';
    const save = checkpointer.submit(stopReason === 'aborted' ? 'periodic' : 'final', name, positionRecord(plan, state));
    last = await checkpointer.record(save);
  }
  const { step, tokens } = state;
  const lastMetrics =
    metrics ?? (previous.metrics.findLast(({ step: at }) => typeof at === 'number' && at < step) as Metrics | undefined) ?? {};
  return { logPath, step, tokens, stopReason, statePath: last?.statePath, samplerPath: last?.samplerPath, metrics: lastMetrics, report };
}

async function openData(
  config: ResolvedConfig,
  { training }: OpenedTraining,
  conversations: ConversationSplit | undefined,
): Promise<OpenedData> {
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

function makePlan(config: ResolvedConfig, dataset: SupervisedDataset): SupervisedPlan {
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

/** @throws ConfigurationError when an evaluator could exceed the budget unnoticed. */
function budgetedEvaluators(
  { evaluators, infrequentEvaluators, maxCostUsd }: ResolvedConfig,
  { test }: OpenedData,
): PreparedRun['evaluators'] {
  const all = [...evaluators, ...infrequentEvaluators];
  if (maxCostUsd !== undefined && all.some(({ usage }) => usage === undefined)) {
    const message = 'maxCostUsd needs the usage of each evaluator: the most tokens that one evaluation prefills and samples.';
    throw new ConfigurationError({ option: 'evaluators', message });
  }
  return { frequent: test === undefined ? evaluators : [...evaluators, test], infrequent: infrequentEvaluators };
}

function resumedState(
  plan: SupervisedPlan,
  dataset: SupervisedDataset,
  { record }: OpenedTraining,
  previous: RunFolder,
): Promise<SupervisedState> {
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
