import type { CustomLoss } from '@tinkex/clients';
import type { Renderer } from '@tinkex/renderers';
import { type JsonRecord, type Metrics, type RunFolder, readRun } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';
import type { Spending } from '../budget/spending.js';
import { type BatchDataset, rowDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import { checkEvaluatorUsage } from '../loop/evaluations.js';
import { type OpenedTraining, openRenderer, openTraining } from '../loop/open-training.js';
import { INITIAL_STATE, stepOf, type TrainingPlan, type TrainingState } from '../loop/plan.js';
import { RunStop } from '../loop/run-stop.js';
import { type RunParts, runTraining, type TrainingRun } from '../loop/run-training.js';
import { Semaphore } from '../loop/semaphore.js';
import { savedState, stateFields, tokensOfRecord } from '../loop/state-record.js';
import { trainConfigRecord } from '../loop/train-options.js';
import { type ResolvedRlConfig, type RlConfig, resolveRlConfig } from './config.js';
import type { EnvGroup } from './environments/env.js';
import { applyKlPenalty, scoreTargets } from './kl.js';
import { type PlayGroup, RlDriver } from './loops/driver.js';
import type { AdvantageRule } from './loops/prepare-batch.js';
import { writeIteration } from './report/iteration-files.js';
import { rolloutEvaluator } from './rollout-evaluator.js';
import { type Policy, samplingPolicy } from './rollouts/policy.js';
import { RolloutErrors } from './rollouts/rollout-errors.js';
import { runGroup } from './rollouts/run-group.js';
import { sampleSeed } from './sample-seed.js';

/**
 * Trains a model by reinforcement: plays episodes, compares the rewards within each group, and makes what did better more likely. Called again with the same
 * `logPath` it continues the run where its last checkpoint was saved.
 *
 * @throws ConfigurationError for wrong options, before anything is trained; with `fail-fast` the error of an environment; otherwise the server's error.
 */
export function trainRl(options: RlConfig): Promise<TrainingRun> {
  return runRl(resolveRlConfig(options), { recipeName: 'rl' });
}

/** What a loop that is built on RL adds to it. */
export interface RlVariant {
  readonly recipeName: string;
  /** More of `config.json`. */
  readonly record?: JsonRecord | undefined;
  /** Rules besides the KL penalty. */
  readonly rules?: readonly AdvantageRule[] | undefined;
  /** Trains with a loss of this process instead of `lossFn`. */
  readonly customLoss?: CustomLoss | undefined;
}

/** Runs RL with a resolved configuration. */
export async function runRl(config: ResolvedRlConfig, variant: RlVariant): Promise<TrainingRun> {
  const previous = await readRun(config.logPath);
  const dataset = datasetOf(config);
  const plan = makePlan(config, dataset);
  checkEvaluatorUsage(config.evaluators, config.maxCostUsd);
  const opened = await openTraining(config, previous.checkpoints);
  const renderer = await openRenderer(config, opened.training);
  const rules = [...(await klRules(config)), ...(variant.rules ?? [])];
  const state = resumedState(opened);
  const errors = new RolloutErrors(lastMetrics(previous, state.step));
  return runTraining({
    config,
    opened,
    previous,
    record: configRecord(config, renderer, variant),
    fixedFields: ['model_name', 'lora_rank', 'dataset_builder.groups_per_batch', 'dataset_builder.group_size', 'dataset_builder.groups'],
    state,
    positionOf: (at) => ({ batch: at.step, extra: stateFields(at) }),
    drive: (parts, from) => {
      const { removeConstantRewardGroups } = config;
      const evaluators = evaluatorsOf(config, parts, renderer);
      const play = groupPlayer(config, parts, renderer);
      const prepare = { removeConstantRewardGroups, rules };
      const { customLoss } = variant;
      const { tokenizer } = renderer;
      return new RlDriver({ ...config, ...parts, tokenizer, plan, dataset, play, prepare, evaluators, errors, customLoss }, from).run();
    },
  });
}

function datasetOf({ dataset, groupsPerBatch: batchSize, shuffle }: ResolvedRlConfig): BatchDataset<EnvGroup> {
  if ('getBatch' in dataset) return dataset;
  return rowDataset({ rows: dataset, toData: (group) => [group], batchSize, shuffle });
}

function makePlan(config: ResolvedRlConfig, dataset: BatchDataset<EnvGroup>): TrainingPlan {
  const { learningRate, adam, evalEvery, maxSeconds, numEpochs } = config;
  const epochSizes = Array.from({ length: numEpochs }, (_, epoch) => dataset.batchCount(epoch));
  const allSteps = stepOf({ epochSizes }, epochSizes.length, 0);
  if (allSteps === 0) {
    throw new ConfigurationError({
      option: 'groupsPerBatch',
      message: 'The dataset has fewer tasks than a batch. Lower groupsPerBatch, or add tasks.',
    });
  }
  const totalSteps = Math.min(allSteps, config.maxSteps ?? allSteps);
  const maxMs = maxSeconds === undefined ? undefined : maxSeconds * 1_000;
  return {
    epochSizes,
    totalSteps,
    learningRate,
    lrSchedule: 'constant',
    warmupSteps: 0,
    adam,
    evalEvery,
    infrequentEvalEvery: 0,
    saves: config,
    maxMs,
  };
}

/** The record of either language says which batch comes next. */
function resumedState({ record }: OpenedTraining): TrainingState {
  if (record === undefined) return INITIAL_STATE;
  const tokens = tokensOfRecord(record.extra);
  return savedState(record) ?? { ...INITIAL_STATE, step: record.batch ?? 0, tokens, savedTokens: tokens };
}

function lastMetrics({ metrics }: RunFolder, step: number): Metrics | undefined {
  return metrics.findLast(({ step: at }) => typeof at === 'number' && at < step) as Metrics | undefined;
}

async function klRules({
  service,
  klReference,
  klPenaltyCoef: coefficient,
  klDiscountFactor: discount,
}: ResolvedRlConfig): Promise<AdvantageRule[]> {
  if (coefficient === 0 || klReference === undefined) return [];
  const reference = await service.createSamplingClient({ ...klReference, retry: true });
  return [
    async (data) => {
      const penalized = applyKlPenalty(data, await scoreTargets(data, reference), { coefficient, discount });
      return { data: penalized.data, metrics: { kl_policy_base: penalized.meanKl } };
    },
  ];
}

function groupPlayer(config: ResolvedRlConfig, { spending, clock }: RunParts, renderer: Renderer): PlayGroup {
  const { groupSize, seed, maxConcurrentEpisodes, limits, strategy, termination, onWarning } = config;
  const episodes = new Semaphore(maxConcurrentEpisodes);
  return (group, sampler, { step, index, samplerStep, signal }) => {
    const policy = budgeted(samplingPolicy(sampler, config), config.maxTokens, spending);
    const context = { renderer, groupSize, signal };
    const seedOf = seed === null ? undefined : (...place: number[]) => sampleSeed(seed, step, index, ...place);
    return runGroup(group, { context, policy, limits, strategy, termination, clock, episodes, seedOf, samplerStep, onWarning });
  };
}

/** Pays for an action before it is sampled: all tokens that it may have, because their number is not known yet. */
function budgeted(policy: Policy, maxTokens: number, spending: Spending): Policy {
  return async (observation, options) => {
    const usage = { prefillTokens: observation.prompt.length, sampledTokens: Math.min(maxTokens, options.maxTokens ?? maxTokens) };
    if (!(await spending.reserve('sample', usage))) throw new RunStop('max_cost');
    return policy(observation, options);
  };
}

function evaluatorsOf(config: ResolvedRlConfig, { spending, clock, writer }: RunParts, renderer: Renderer): readonly Evaluator[] {
  const { testDataset, evaluators, maxTokens, limits, strategy, termination, maxConcurrentEpisodes, seed, signal, rolloutJsonExport } =
    config;
  const { numGroupsToLog } = config;
  if (testDataset === undefined || testDataset.length === 0) return evaluators;
  const test = rolloutEvaluator(testDataset, {
    renderer,
    maxTokens,
    limits,
    strategy,
    termination,
    maxConcurrentEpisodes,
    clock,
    signal,
    seed: seed ?? undefined,
    // Each action is paid for by itself.
    usage: {},
    wrapPolicy: (policy) => budgeted(policy, maxTokens, spending),
    async onGroups(groups, { step: iteration = 0 }) {
      const files = { iteration, prefix: 'eval_test', split: 'test', groups, hasSummaries: rolloutJsonExport };
      await writeIteration(writer, { ...files, numGroupsToLog, tokenizer: renderer.tokenizer, nowMs: clock.wallMs() });
    },
  });
  return [...evaluators, test];
}

function configRecord(config: ResolvedRlConfig, { name }: Renderer, { recipeName, record }: RlVariant): JsonRecord {
  const { dataset, groupsPerBatch, groupSize, klReference } = config;
  const groups = 'getBatch' in dataset ? null : dataset.length;
  return {
    ...trainConfigRecord(config),
    recipe_name: recipeName,
    renderer_name: name,
    dataset_builder: { groups_per_batch: groups === null ? null : groupsPerBatch, group_size: groupSize, groups },
    num_epochs: config.numEpochs,
    max_tokens: config.maxTokens,
    temperature: config.temperature,
    loss_fn: config.lossFn,
    loss_fn_config: config.lossFnConfig ?? null,
    num_substeps: config.numSubsteps,
    kl_penalty_coef: config.klPenaltyCoef,
    kl_discount_factor: config.klDiscountFactor,
    kl_reference_config: klReference === undefined ? null : { ...klReference },
    compute_post_kl: config.computePostKl,
    remove_constant_reward_groups: config.removeConstantRewardGroups,
    async_config:
      config.maxStepsOffPolicy === 0 ? null : { max_steps_off_policy: config.maxStepsOffPolicy, groups_per_batch: groupsPerBatch },
    stream_minibatch_config:
      config.numMinibatches === 1 ? null : { groups_per_batch: groupsPerBatch, num_minibatches: config.numMinibatches },
    rollout_json_export: config.rolloutJsonExport,
    num_groups_to_log: config.numGroupsToLog,
    seed: config.seed,
    ...record,
  };
}
