import type { ApiFuture, TrainingClient } from '@tinkex/clients';
import type { Clock } from '@tinkex/http';
import {
  type CheckpointRecord,
  type Metrics,
  type MetricsSink,
  RUN_FILES,
  type RunWriter,
  StepTimer,
  timingRecord,
} from '@tinkex/telemetry/runs';
import type { Datum, ForwardBackwardOutput, OptimStepResponse } from '@tinkex/types';
import type { Usage } from '../budget/price-table.js';
import type { Spending } from '../budget/spending.js';
import type { Checkpointer, PendingSave } from '../checkpoints/checkpointer.js';
import { checkpointName } from '../checkpoints/save-policy.js';
import type { SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { DecodingTokenizer } from '../evaluation/loss-metrics.js';
import { endOfPlan, type PlannedStep, planStep, positionOf, type StopReason, type SupervisedPlan, type SupervisedState } from './plan.js';
import { positionRecord } from './resume.js';
import { stepMetrics, tokensOf } from './step-metrics.js';

/** What the driver of a run uses. */
export interface DriverParts {
  readonly plan: SupervisedPlan;
  readonly dataset: SupervisedDataset;
  readonly training: TrainingClient;
  readonly tokenizer: DecodingTokenizer;
  readonly evaluators: { readonly frequent: readonly Evaluator[]; readonly infrequent: readonly Evaluator[] };
  readonly checkpointer: Checkpointer;
  readonly spending: Spending;
  readonly writer: RunWriter;
  readonly sinks: readonly MetricsSink[];
  readonly clock: Clock;
  readonly submitAhead: number;
  readonly onStep?: ((step: number, metrics: Metrics) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a run ended. */
export interface DrivenRun {
  readonly state: SupervisedState;
  readonly stopReason: StopReason;
  /** The last record of metrics. */
  readonly metrics: Metrics | undefined;
  /** The last checkpoint that was recorded, if any. */
  readonly record: CheckpointRecord | undefined;
}

/** A step that was submitted and not awaited yet. */
interface SubmittedStep {
  readonly planned: PlannedStep;
  readonly data: readonly Datum[];
  readonly pass: ApiFuture<ForwardBackwardOutput>;
  readonly update: ApiFuture<OptimStepResponse>;
  readonly save: PendingSave | undefined;
  readonly evaluation: Metrics;
  readonly timer: StepTimer;
}

/**
 * Carries out a plan: submits each step behind the last without waiting for it, and awaits them in order. What a checkpoint contains is decided when it is
 * submitted; its record is written when all steps before it have succeeded.
 */
export class SupervisedDriver {
  readonly #parts: DriverParts;
  readonly #submitted: SubmittedStep[] = [];
  readonly #startedMs: number;
  #state: SupervisedState;
  #metrics: Metrics | undefined;
  #record: CheckpointRecord | undefined;

  constructor(parts: DriverParts, state: SupervisedState) {
    this.#parts = parts;
    this.#state = state;
    this.#startedMs = parts.clock.now() - state.elapsedMs;
  }

  /** Runs until the plan, a limit or the signal ends it, and awaits everything that was submitted. */
  async run(): Promise<DrivenRun> {
    const { submitAhead } = this.#parts;
    let stopReason: StopReason | undefined;
    while (stopReason === undefined) {
      stopReason = await this.#submitNext();
      while (this.#submitted.length > (stopReason === undefined ? submitAhead : 0))
        await this.#finish(this.#submitted.shift() as SubmittedStep);
    }
    return { state: this.#state, stopReason, metrics: this.#metrics, record: this.#record };
  }

  async #submitNext(): Promise<StopReason | undefined> {
    const { plan, dataset, training, checkpointer, clock, signal } = this.#parts;
    const end = endOfPlan(plan, this.#state);
    if (end !== undefined) return end;
    if (signal?.aborted) return 'aborted';
    const timer = new StepTimer(() => clock.now());
    const { epoch, batch } = positionOf(plan, this.#state.step);
    const data = await timer.measure('get_batch', () => dataset.getBatch(epoch, batch));
    const planned = planStep(plan, this.#state, tokensOf(data), clock.now() - this.#startedMs);
    if (typeof planned === 'string') return planned;
    if (!(await this.#reserve(planned, data))) return 'max_cost';
    const evaluation = await this.#evaluate(planned, timer);
    // From here to the end nothing is awaited: the save contains this step and no later one.
    const pass = training.forwardBackward(data, 'cross_entropy');
    const update = training.optimStep(planned.adamParams);
    const save = planned.save && checkpointer.submit(planned.save, checkpointName(planned.next.step), positionRecord(plan, planned.next));
    this.#submitted.push({ planned, data, pass, update, save, evaluation, timer });
    this.#state = planned.next;
    return undefined;
  }

  /** Pays for a step and the evaluations before it, or for nothing. */
  #reserve({ step, evaluations }: PlannedStep, data: readonly Datum[]): Promise<boolean> {
    const usages: Usage[] = [{ trainTokens: tokensOf(data) }, ...this.#evaluatorsOf(evaluations).map(({ usage = {} }) => usage)];
    const sum = (kind: keyof Usage) => usages.reduce((total, usage) => total + (usage[kind] ?? 0), 0);
    const usage = { trainTokens: sum('trainTokens'), prefillTokens: sum('prefillTokens'), sampledTokens: sum('sampledTokens') };
    return this.#parts.spending.reserve(`step ${step}`, usage);
  }

  async #evaluate({ evaluations }: PlannedStep, timer: StepTimer): Promise<Metrics> {
    const { training } = this.#parts;
    const evaluators = this.#evaluatorsOf(evaluations);
    if (evaluators.length === 0) return {};
    return timer.measure('evals', async () => {
      const metrics: Record<string, number> = {};
      // One sampler for all evaluators of a round, created when the first needs it.
      let sampler: ReturnType<TrainingClient['saveWeightsAndGetSamplingClient']> | undefined;
      for (const evaluator of evaluators) {
        if (evaluator.kind === 'training') Object.assign(metrics, await evaluator.evaluate(training));
        else {
          sampler ??= training.saveWeightsAndGetSamplingClient({ retry: true });
          Object.assign(metrics, await evaluator.evaluate(await sampler));
        }
      }
      return metrics;
    });
  }

  #evaluatorsOf(evaluations: PlannedStep['evaluations']): Evaluator[] {
    return evaluations.flatMap((kind) => this.#parts.evaluators[kind]);
  }

  /** Metrics first, then the checkpoint: a resumed run repeats the steps after a checkpoint, so that no record is lost between the two. */
  async #finish({ planned, data, pass, update, save, evaluation, timer }: SubmittedStep): Promise<void> {
    const { plan, tokenizer, writer, sinks, checkpointer, onStep } = this.#parts;
    const { step } = planned;
    const [output, updated] = await timer.measure('finish_batch', async () => [await pass, await update] as const);
    const results = { data, output, update: updated, evaluation, timings: timer.metrics() };
    const metrics = stepMetrics(plan, planned, results, tokenizer);
    await writer.appendMetrics(metrics, step);
    await writer.append(RUN_FILES.timingSpans, timingRecord(step, timer.spans));
    for (const sink of sinks) await sink.logMetrics(metrics, step);
    this.#metrics = metrics;
    if (save !== undefined) this.#record = (await checkpointer.record(save)) ?? this.#record;
    onStep?.(step, metrics);
  }
}
