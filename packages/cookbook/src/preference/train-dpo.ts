import type { SamplingClient } from '@tinkex/clients';
import { elapsedMs, timeAfter } from '@tinkex/http';
import { conversationToDatum, type Renderer } from '@tinkex/renderers';
import { type JsonRecord, type Metrics, readRun, StepTimer } from '@tinkex/telemetry/runs';
import { type AdamParams, ConfigurationError, type Datum } from '@tinkex/types';
import { checkpointName } from '../checkpoints/save-policy.js';
import { type BatchDataset, rowDataset } from '../data/supervised-dataset.js';
import { checkEvaluatorUsage, runEvaluators, usageWithEvaluators } from '../loop/evaluations.js';
import type { LrSchedule } from '../loop/lr-schedule.js';
import { openRenderer, openTraining } from '../loop/open-training.js';
import { checkOptions, definedOf } from '../loop/options.js';
import {
  endOfPlan,
  INITIAL_STATE,
  type PlannedStep,
  planStep,
  positionOf,
  type StopReason,
  stepOf,
  type TrainingPlan,
  type TrainingState,
} from '../loop/plan.js';
import { type DrivenRun, type RunParts, runTraining, type TrainingRun } from '../loop/run-training.js';
import { savedState, tokensOfRecord } from '../loop/state-record.js';
import { resolveOptimizer, TRAIN_DEFAULTS, type TrainOptions, trainConfigRecord } from '../loop/train-options.js';
import type { KlReference } from '../rl/config.js';
import { scoreTargets } from '../rl/kl.js';
import { positionRecord } from '../supervised/position-record.js';
import { tokensOf } from '../supervised/step-metrics.js';
import { chosenAndRejected, type LabeledComparison } from './comparison.js';
import { dpoCustomLoss } from './dpo-loss.js';

/** The better and the worse answer to the same prompt, as examples whose weights mark the answer. */
export interface PreferencePair {
  readonly chosen: Datum;
  readonly rejected: Datum;
}

/** Options of `trainDpo`. Defaults are the reference's. */
export interface DpoConfig extends TrainOptions {
  /** Comparisons, or your own batches of pairs. */
  readonly data: readonly LabeledComparison[] | BatchDataset<PreferencePair>;
  /** Comparisons per batch. Default 128. Without meaning for your own batches. */
  readonly batchSize?: number | undefined;
  /** The most tokens of an example; longer ones are cut. Default: no limit. */
  readonly maxLength?: number | undefined;
  /** How strongly the policy is kept near the reference. Default 0.1. */
  readonly dpoBeta?: number | undefined;
  /** The weights that the policy is compared with. Default: those that the run started from, also when it is resumed. */
  readonly reference?: KlReference | undefined;
  /** Default 1e-5. */
  readonly learningRate?: number | 'auto' | undefined;
  /** Default 1. */
  readonly numEpochs?: number | undefined;
  /** Default `linear`. */
  readonly lrSchedule?: LrSchedule | undefined;
  /** Steps between evaluations, at step 0 first; 0 for none. Default 10. */
  readonly evalEvery?: number | undefined;
}

const DEFAULTS = {
  ...TRAIN_DEFAULTS,
  batchSize: 128,
  dpoBeta: 0.1,
  numEpochs: 1,
  lrSchedule: 'linear',
  evalEvery: 10,
} as const;
const DEFAULT_LEARNING_RATE = 1e-5;

type ResolvedDpoConfig = Omit<DpoConfig, keyof typeof DEFAULTS | 'learningRate' | 'adam'> & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<DpoConfig[Name]>;
} & { readonly learningRate: number; readonly adam: AdamParams };

/**
 * Trains on preferences directly (DPO): what was preferred becomes more likely than the rest, compared with the weights that the run started from. Called again
 * with the same `logPath` it continues exactly where its last checkpoint was saved.
 *
 * @throws ConfigurationError for wrong options, before anything is trained; otherwise the server's error.
 */
export async function trainDpo(options: DpoConfig): Promise<TrainingRun> {
  const config = resolveConfig(options);
  const previous = await readRun(config.logPath);
  checkEvaluatorUsage(config.evaluators, config.maxCostUsd);
  const opened = await openTraining(config, previous.checkpoints);
  const renderer = 'getBatch' in config.data ? undefined : await openRenderer(config, opened.training);
  const dataset = datasetOf(config, renderer);
  const plan = makePlan(config, dataset);
  const reference = await openReference(config);
  const { record } = opened;
  const resumed =
    record && (savedState(record) ?? referenceState(plan, record.epoch ?? 0, record.batch ?? 0, tokensOfRecord(record.extra)));
  return runTraining({
    config,
    opened,
    previous,
    record: configRecord(config, renderer),
    fixedFields: ['model_name', 'lora_rank', 'dpo_beta', 'dataset_builder.batch_size', 'dataset_builder.rows'],
    state: resumed ?? INITIAL_STATE,
    positionOf: (state) => positionRecord(plan, state),
    drive: (parts, state) => drive({ ...parts, plan, dataset, reference, config }, state),
  });
}

function resolveConfig(config: DpoConfig): ResolvedDpoConfig {
  checkOptions(config, { countsFromOne: ['batchSize', 'maxLength', 'numEpochs'], aboveZero: ['dpoBeta'] });
  const { learningRate = DEFAULT_LEARNING_RATE } = config;
  return { ...DEFAULTS, ...definedOf(config), ...resolveOptimizer({ ...config, learningRate }) } as ResolvedDpoConfig;
}

function datasetOf({ data, batchSize, maxLength }: ResolvedDpoConfig, renderer: Renderer | undefined): BatchDataset<PreferencePair> {
  if ('getBatch' in data || renderer === undefined) return data as BatchDataset<PreferencePair>;
  const toData = (labeled: LabeledComparison) => {
    const example = (completion: LabeledComparison['comparison']['prompt']) => {
      const messages = [...labeled.comparison.prompt, ...completion];
      return conversationToDatum(messages, renderer, { trainOnWhat: 'last_assistant_message', maxLength, reduction: 'none' });
    };
    const [chosen, rejected] = chosenAndRejected(labeled).map(example) as [Datum, Datum];
    return [{ chosen, rejected }];
  };
  return rowDataset({ rows: data, toData, batchSize });
}

function makePlan(config: ResolvedDpoConfig, dataset: BatchDataset<PreferencePair>): TrainingPlan {
  const { learningRate, adam, lrSchedule, evalEvery, maxSeconds, numEpochs } = config;
  const epochSizes = Array.from({ length: numEpochs }, (_, epoch) => dataset.batchCount(epoch));
  const allSteps = stepOf({ epochSizes }, epochSizes.length, 0);
  if (allSteps === 0) {
    throw new ConfigurationError({
      option: 'batchSize',
      message: 'The data has fewer comparisons than a batch. Lower batchSize, or add data.',
    });
  }
  const maxMs = maxSeconds === undefined ? undefined : maxSeconds * 1_000;
  const totalSteps = Math.min(allSteps, config.maxSteps ?? allSteps);
  return {
    epochSizes,
    totalSteps,
    learningRate,
    lrSchedule,
    warmupSteps: 0,
    adam,
    evalEvery,
    infrequentEvalEvery: 0,
    saves: config,
    maxMs,
  };
}

/** The reference saves before the step that its record names, so that its records are exact here. */
function referenceState(plan: TrainingPlan, epoch: number, batch: number, tokens: number): TrainingState {
  return { ...INITIAL_STATE, step: stepOf(plan, epoch, batch), tokens, savedTokens: tokens };
}

/** The weights that the run started from, never those it was resumed with. */
async function openReference({ service, model, loadCheckpointPath, reference }: ResolvedDpoConfig): Promise<SamplingClient> {
  if (reference !== undefined) return service.createSamplingClient({ ...reference, retry: true });
  if (loadCheckpointPath === undefined) return service.createSamplingClient({ baseModel: model, retry: true });
  const start = await service.createTrainingClientFromState(loadCheckpointPath);
  const sampler = await start.saveWeightsAndGetSamplingClient({ retry: true });
  await start.unload();
  return sampler;
}

interface DpoParts extends RunParts {
  readonly plan: TrainingPlan;
  readonly dataset: BatchDataset<PreferencePair>;
  readonly reference: SamplingClient;
  readonly config: ResolvedDpoConfig;
}

async function drive(parts: DpoParts, start: TrainingState): Promise<DrivenRun> {
  const { plan, clock, config } = parts;
  const startedAt = timeAfter(clock, -start.elapsedMs);
  let state = start;
  for (;;) {
    const end = endOfPlan(plan, state);
    if (end !== undefined) return { state, stopReason: end };
    if (config.signal?.aborted) return { state, stopReason: 'aborted' };
    const next = await runStep(parts, state, elapsedMs(clock, startedAt));
    if (typeof next === 'string') return { state, stopReason: next };
    state = next;
  }
}

/** One step, from its batch to its record. Gives the state after it, or the reason to stop. */
async function runStep(parts: DpoParts, state: TrainingState, elapsedMs: number): Promise<TrainingState | StopReason> {
  const { plan, dataset, reference, training, checkpointer, log, clock, spending, config } = parts;
  const timer = new StepTimer(clock);
  const { epoch, batch } = positionOf(plan, state.step);
  const pairs = await timer.measure('get_batch', () => dataset.getBatch(epoch, batch));
  const data = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
  const tokens = tokensOf(data);
  const planned = planStep(plan, state, tokens, elapsedMs);
  if (typeof planned === 'string') return planned;
  const evaluators = planned.evaluations.length === 0 ? [] : config.evaluators;
  // Two passes over the policy and one over the reference.
  const usage = usageWithEvaluators(
    { trainTokens: 2 * tokens, prefillTokens: tokens + data.length, sampledTokens: data.length },
    evaluators,
  );
  if (!(await spending.reserve(`step ${state.step}`, usage))) return 'max_cost';
  const createSampler = () => training.saveWeightsAndGetSamplingClient({ retry: true });
  const evaluation =
    evaluators.length === 0 ? {} : await timer.measure('evals', () => runEvaluators(evaluators, state.step, training, createSampler));
  const references = await timer.measure('get_ref_logprobs', () =>
    scoreTargets(
      data.map((datum) => ({ datum })),
      reference,
    ),
  );
  const loss = (given: readonly Datum[], logprobs: readonly { readonly data: Float32Array }[]) =>
    dpoCustomLoss(
      given,
      logprobs.map((each) => each.data),
      references,
      config.dpoBeta,
    );
  // From here to the save nothing is awaited: the save contains this step and no later one.
  const pass = training.forwardBackwardCustom(data, loss);
  const update = training.optimStep(planned.adamParams);
  const save = planned.save && checkpointer.submit(planned.save, checkpointName(planned.next.step), positionRecord(plan, planned.next));
  const output = await timer.measure('step', async () => {
    const result = await pass;
    await update;
    return result;
  });
  await log.add(state.step, stepMetrics(plan, planned, data, { ...output.metrics, ...evaluation }, timer.metrics()), timer, save);
  return planned.next;
}

function stepMetrics(
  plan: TrainingPlan,
  { step, epoch, adamParams }: PlannedStep,
  data: readonly Datum[],
  measured: Metrics,
  timings: Metrics,
): Metrics {
  return {
    epoch,
    num_pairs: data.length / 2,
    num_tokens: tokensOf(data),
    learning_rate: adamParams.learningRate,
    progress: step / plan.totalSteps,
    ...measured,
    ...timings,
    batch_time: timings['time/total'] ?? 0,
  };
}

function configRecord(config: ResolvedDpoConfig, renderer: Renderer | undefined): JsonRecord {
  const rows = 'getBatch' in config.data ? null : config.data.length;
  return {
    ...trainConfigRecord(config),
    recipe_name: 'dpo',
    renderer_name: renderer?.name ?? null,
    dataset_builder: { batch_size: rows === null ? null : config.batchSize, rows },
    dpo_beta: config.dpoBeta,
    lr_schedule: config.lrSchedule,
    num_epochs: config.numEpochs,
    reference_model_name: config.reference === undefined ? null : { ...config.reference },
  };
}
