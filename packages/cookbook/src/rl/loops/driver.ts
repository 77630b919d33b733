import type { ApiFuture, CustomLoss, SamplingClient } from '@tinkex/clients';
import { elapsedMs, type MonotonicTime, onAbort, timeAfter } from '@tinkex/http';
import { type Metrics, StepTimer } from '@tinkex/telemetry/runs';
import { AbortedError, type ForwardBackwardOutput, type LossFnConfig, type LossFnType, type OptimStepResponse } from '@tinkex/types';
import type { PendingSave } from '../../checkpoints/checkpointer.js';
import { checkpointName } from '../../checkpoints/save-policy.js';
import type { BatchDataset } from '../../data/supervised-dataset.js';
import type { Evaluator } from '../../evaluation/evaluator.js';
import type { DecodingTokenizer } from '../../evaluation/loss-metrics.js';
import { runEvaluators, usageWithEvaluators } from '../../loop/evaluations.js';
import {
  endOfPlan,
  type PlannedStep,
  planStep,
  positionOf,
  type StopReason,
  type TrainingPlan,
  type TrainingState,
} from '../../loop/plan.js';
import { RunStop } from '../../loop/run-stop.js';
import type { DrivenRun, RunParts } from '../../loop/run-training.js';
import { stateFields } from '../../loop/state-record.js';
import type { RlDatum } from '../assembly.js';
import type { EnvGroup } from '../environments/env.js';
import { klPrePost, klSampleTrain } from '../kl.js';
import { writeIteration } from '../report/iteration-files.js';
import type { RolloutErrors } from '../rollouts/rollout-errors.js';
import type { TrajectoryGroup } from '../rollouts/trajectory.js';
import { trajectoryMetrics } from '../trajectory-metrics.js';
import { meanOfParts, samplerSteps } from './batch-metrics.js';
import { type PreparedBatch, type PrepareOptions, prepareBatch, splitList } from './prepare-batch.js';
import { type GroupOutcome, RolloutFeed } from './rollout-feed.js';

/** Plays a group with a sampler's weights. */
export type PlayGroup = (
  group: EnvGroup,
  sampler: SamplingClient,
  place: { readonly step: number; readonly index: number; readonly samplerStep: number; readonly signal: AbortSignal },
) => Promise<GroupOutcome>;

/** What the driver of an RL run uses. */
export interface RlDriverParts extends RunParts {
  readonly plan: TrainingPlan;
  readonly dataset: BatchDataset<EnvGroup>;
  readonly play: PlayGroup;
  readonly prepare: PrepareOptions;
  readonly evaluators: readonly Evaluator[];
  readonly errors: RolloutErrors;
  readonly lossFn: LossFnType;
  readonly lossFnConfig?: LossFnConfig | undefined;
  /** Instead of `lossFn`. */
  readonly customLoss?: CustomLoss | undefined;
  readonly numSubsteps: number;
  readonly numMinibatches: number;
  readonly maxStepsOffPolicy: number;
  readonly computePostKl: boolean;
  readonly rolloutJsonExport: boolean;
  readonly numGroupsToLog: number;
  /** For the report. */
  readonly tokenizer: DecodingTokenizer;
  readonly signal?: AbortSignal | undefined;
}

/** A pass that was submitted. */
interface SubmittedPass {
  readonly data: readonly RlDatum[];
  readonly output: ApiFuture<ForwardBackwardOutput>;
}

/** The training of a batch, as far as it was submitted. */
interface SubmittedBatch {
  readonly played: TrajectoryGroup[];
  readonly prepared: PreparedBatch[];
  readonly passes: SubmittedPass[];
  readonly updates: ApiFuture<OptimStepResponse>[];
}

/**
 * Carries out a plan: plays batches as their feed allows, trains on them in order, and gives each new set of weights to the feed. All three loops are this one:
 * the synchronous one has `maxStepsOffPolicy` 0 and one minibatch, the streaming one more minibatches, the asynchronous one a feed that plays ahead.
 */
export class RlDriver {
  readonly #parts: RlDriverParts;
  readonly #startedAt: MonotonicTime;
  readonly #feed: RolloutFeed;
  /** Ends all rollouts in play: when the run is aborted, fails or stops. */
  readonly #rollouts = new AbortController();
  #state: TrainingState;
  #sampler: Promise<SamplingClient> | undefined;

  constructor(parts: RlDriverParts, state: TrainingState) {
    const { plan, dataset, maxStepsOffPolicy, play } = parts;
    this.#parts = parts;
    this.#state = state;
    this.#startedAt = timeAfter(parts.clock, -state.elapsedMs);
    const getBatch = async (step: number) => {
      const { epoch, batch } = positionOf(plan, step);
      return dataset.getBatch(epoch, batch);
    };
    const { signal } = this.#rollouts;
    const { totalSteps } = plan;
    this.#feed = new RolloutFeed(
      {
        totalSteps,
        maxStepsOffPolicy,
        getBatch,
        play: async (group, place) => play(group, await this.#currentSampler(), { ...place, signal }),
      },
      state.step,
    );
  }

  /** Runs until the plan, a limit or the signal ends it. */
  async run(): Promise<DrivenRun> {
    const { signal } = this.#parts;
    const stopFollowing = signal && onAbort(signal, () => this.#rollouts.abort(signal.reason));
    try {
      let stopReason: StopReason | undefined;
      while (stopReason === undefined) stopReason = await this.#step();
      return { state: this.#state, stopReason };
    } catch (error) {
      if (error instanceof RunStop) return { state: this.#state, stopReason: error.reason };
      if (signal?.aborted && AbortedError.isInstance(error)) return { state: this.#state, stopReason: 'aborted' };
      throw error;
    } finally {
      stopFollowing?.();
      this.#rollouts.abort();
      await this.#feed.drain();
    }
  }

  async #step(): Promise<StopReason | undefined> {
    const { plan, clock, signal, checkpointer } = this.#parts;
    const end = endOfPlan(plan, this.#state);
    if (end !== undefined) return end;
    if (signal?.aborted) return 'aborted';
    const trainedMs = elapsedMs(clock, this.#startedAt);
    const expected = planStep(plan, this.#state, 0, trainedMs);
    if (typeof expected === 'string') return expected;
    const timer = new StepTimer(clock);
    const evaluation = await this.#evaluate(expected, timer);
    this.#feed.advance(expected.step);
    const groups = await this.#feed.take(expected.step);
    const submitted = await this.#train(groups, expected, timer);
    // From here to the sampler nothing is awaited: the save contains this step and no later one.
    const planned = planStep(plan, this.#state, tokensOf(submitted), trainedMs) as PlannedStep;
    const position = { batch: planned.next.step, extra: stateFields(planned.next) };
    const save = planned.save && checkpointer.submit(planned.save, checkpointName(planned.next.step), position);
    this.#replaceSampler(submitted, save);
    await this.#finish(planned, submitted, { evaluation, timer, save });
    this.#state = planned.next;
    return undefined;
  }

  async #evaluate({ evaluations, step }: PlannedStep, timer: StepTimer): Promise<Metrics> {
    const { evaluators, training, spending } = this.#parts;
    if (evaluations.length === 0 || evaluators.length === 0) return {};
    if (!(await spending.reserve(`evaluation ${step}`, usageWithEvaluators({}, evaluators)))) throw new RunStop('max_cost');
    return timer.measure('run_evals', () => runEvaluators(evaluators, step, training, () => this.#currentSampler()));
  }

  /** Submits the training of a batch. In minibatches, each part as soon as its groups are played; a part without examples is left out. */
  async #train(groups: readonly Promise<GroupOutcome>[], expected: PlannedStep, timer: StepTimer): Promise<SubmittedBatch> {
    const { numSubsteps, numMinibatches, prepare } = this.#parts;
    const batch: SubmittedBatch = { played: [], prepared: [], passes: [], updates: [] };
    if (numMinibatches === 1) {
      const played = await timer.measure('sampling', () => this.#played(groups, batch));
      const prepared = await timer.measure('prepare_minibatch', () => prepareBatch(played, prepare));
      batch.prepared.push(prepared);
      const { data } = prepared;
      if (data.length === 0) return batch;
      for (const part of splitList(data, Math.min(numSubsteps, data.length))) {
        await this.#submitPass(part, batch);
        this.#submitUpdate(expected, batch);
      }
      return batch;
    }
    for (const substep of splitList(groups, Math.min(numSubsteps, groups.length))) {
      const passesBefore = batch.passes.length;
      for (const part of splitList(substep, Math.min(numMinibatches, substep.length))) {
        const played = await timer.measure('sampling', () => this.#played(part, batch));
        const prepared = await timer.measure('prepare_minibatch', () => prepareBatch(played, prepare));
        batch.prepared.push(prepared);
        if (prepared.data.length > 0) await this.#submitPass(prepared.data, batch);
      }
      if (batch.passes.length > passesBefore) this.#submitUpdate(expected, batch);
    }
    return batch;
  }

  /** The groups that were played; the others are counted. */
  async #played(groups: readonly Promise<GroupOutcome>[], batch: SubmittedBatch): Promise<TrajectoryGroup[]> {
    const played: TrajectoryGroup[] = [];
    for (const outcome of await Promise.all(groups)) {
      const isSkipped = !('trajectories' in outcome);
      this.#parts.errors.add(outcome.errors, { isSkipped });
      if (!isSkipped) played.push(outcome);
    }
    batch.played.push(...played);
    return played;
  }

  async #submitPass(data: readonly RlDatum[], batch: SubmittedBatch): Promise<void> {
    const { spending, training, lossFn, lossFnConfig, customLoss } = this.#parts;
    // A loss of this process takes two passes.
    const trainTokens = (customLoss === undefined ? 1 : 2) * data.reduce((sum, { datum }) => sum + datum.modelInput.length, 0);
    if (!(await spending.reserve(`step ${this.#state.step}`, { trainTokens }))) throw new RunStop('max_cost');
    const examples = data.map(({ datum }) => datum);
    const output: ApiFuture<ForwardBackwardOutput> =
      customLoss === undefined
        ? training.forwardBackward(examples, lossFn, { lossFnConfig })
        : training.forwardBackwardCustom(examples, customLoss);
    batch.passes.push({ data, output });
  }

  #submitUpdate({ adamParams }: PlannedStep, batch: SubmittedBatch): void {
    batch.updates.push(this.#parts.training.optimStep(adamParams));
  }

  /** The next weights to sample from: those that were just saved, or saved for this. */
  #replaceSampler({ updates }: SubmittedBatch, save: PendingSave | undefined): void {
    const { training, plan, computePostKl } = this.#parts;
    if (updates.length === 0) return;
    this.#sampler = undefined;
    const isNeeded = computePostKl || this.#state.step + 1 < plan.totalSteps;
    if (!isNeeded) return;
    const saved = save?.sampler;
    this.#sampler =
      saved === undefined
        ? training.saveWeightsAndGetSamplingClient({ retry: true })
        : (async () => training.createSamplingClient((await saved).path, { retry: true }))();
    this.#sampler.catch(() => undefined);
  }

  #currentSampler(): Promise<SamplingClient> {
    this.#sampler ??= this.#parts.training.saveWeightsAndGetSamplingClient({ retry: true });
    return this.#sampler;
  }

  async #finish(
    { step, adamParams, next }: PlannedStep,
    submitted: SubmittedBatch,
    { evaluation, timer, save }: { readonly evaluation: Metrics; readonly timer: StepTimer; readonly save: PendingSave | undefined },
  ): Promise<void> {
    const { plan, log, writer, errors, customLoss, computePostKl, maxStepsOffPolicy, numMinibatches, rolloutJsonExport } = this.#parts;
    const { numGroupsToLog, tokenizer, clock } = this.#parts;
    const { played, prepared, passes, updates } = submitted;
    const [outputs, updated] = await timer.measure('train_step', async () => {
      const results: ForwardBackwardOutput[] = [];
      for (const { output } of passes) results.push(await output);
      let last: OptimStepResponse | undefined;
      for (const update of updates) last = await update;
      return [results, last] as const;
    });
    const data = passes.flatMap((pass) => pass.data);
    const logprobs = outputs.flatMap(({ lossFnOutputs }) => lossFnOutputs.map((output) => output.logprobs?.toNumbers() ?? []));
    const groups = prepared.flatMap((part) => part.groups);
    // Targets that are not the sampled tokens have no logprobs to compare.
    const isSampled = data.length > 0 && data.every(({ datum }) => datum.lossFnInputs.logprobs !== undefined);
    const metrics = {
      'progress/batch': step,
      'optim/lr': adamParams.learningRate,
      'progress/done_frac': next.step / plan.totalSteps,
      ...evaluation,
      ...(groups.length > 0 && trajectoryMetrics(groups)),
      ...meanOfParts(prepared),
      ...updated?.metrics,
      ...(customLoss !== undefined && outputs.at(-1)?.metrics),
      ...(isSampled && klSampleTrain(data, logprobs)),
      ...(isSampled &&
        computePostKl &&
        (await timer.measure('compute_post_kl', async () => klPrePost(data, await this.#currentSampler())))),
      ...((maxStepsOffPolicy > 0 || numMinibatches > 1) && samplerSteps(groups)),
      ...errors.metrics(),
      ...timer.metrics(),
    };
    const files = { iteration: step, prefix: 'train', split: 'train', groups: played, hasSummaries: rolloutJsonExport };
    await writeIteration(writer, { ...files, numGroupsToLog, tokenizer, nowMs: clock.wallMs() });
    await log.add(step, metrics, timer, save);
  }
}

function tokensOf({ passes }: SubmittedBatch): number {
  return passes.reduce((sum, { data }) => sum + data.reduce((total, { datum }) => total + datum.modelInput.length, 0), 0);
}
