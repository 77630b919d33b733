import type { ApiFuture } from '@tinkex/clients';
import { elapsedMs, type MonotonicTime, timeAfter } from '@tinkex/http';
import { type Metrics, StepTimer } from '@tinkex/telemetry/runs';
import type { Datum, ForwardBackwardOutput, OptimStepResponse } from '@tinkex/types';
import type { PendingSave } from '../checkpoints/checkpointer.js';
import { checkpointName } from '../checkpoints/save-policy.js';
import type { SupervisedDataset } from '../data/supervised-dataset.js';
import type { Evaluator } from '../evaluation/evaluator.js';
import type { DecodingTokenizer } from '../evaluation/loss-metrics.js';
import { runEvaluators, usageWithEvaluators } from '../loop/evaluations.js';
import { endOfPlan, type PlannedStep, planStep, positionOf, type StopReason, type TrainingPlan, type TrainingState } from '../loop/plan.js';
import type { DrivenRun, RunParts } from '../loop/run-training.js';
import { positionRecord } from './position-record.js';
import { stepMetrics, tokensOf } from './step-metrics.js';

/** What the driver of a supervised run uses. */
export interface DriverParts extends RunParts {
  readonly plan: TrainingPlan;
  readonly dataset: SupervisedDataset;
  readonly tokenizer: DecodingTokenizer;
  readonly evaluators: { readonly frequent: readonly Evaluator[]; readonly infrequent: readonly Evaluator[] };
  readonly submitAhead: number;
  readonly signal?: AbortSignal | undefined;
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
  readonly #startedAt: MonotonicTime;
  #state: TrainingState;

  constructor(parts: DriverParts, state: TrainingState) {
    this.#parts = parts;
    this.#state = state;
    this.#startedAt = timeAfter(parts.clock, -state.elapsedMs);
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
    return { state: this.#state, stopReason };
  }

  async #submitNext(): Promise<StopReason | undefined> {
    const { plan, dataset, training, checkpointer, clock, signal } = this.#parts;
    const end = endOfPlan(plan, this.#state);
    if (end !== undefined) return end;
    if (signal?.aborted) return 'aborted';
    const timer = new StepTimer(clock);
    const { epoch, batch } = positionOf(plan, this.#state.step);
    const data = await timer.measure('get_batch', () => dataset.getBatch(epoch, batch));
    const planned = planStep(plan, this.#state, tokensOf(data), elapsedMs(clock, this.#startedAt));
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
    const usage = usageWithEvaluators({ trainTokens: tokensOf(data) }, this.#evaluatorsOf(evaluations));
    return this.#parts.spending.reserve(`step ${step}`, usage);
  }

  async #evaluate({ evaluations, step }: PlannedStep, timer: StepTimer): Promise<Metrics> {
    const { training } = this.#parts;
    const evaluators = this.#evaluatorsOf(evaluations);
    if (evaluators.length === 0) return {};
    const createSampler = () => training.saveWeightsAndGetSamplingClient({ retry: true });
    return timer.measure('evals', () => runEvaluators(evaluators, step, training, createSampler));
  }

  #evaluatorsOf(evaluations: PlannedStep['evaluations']): Evaluator[] {
    return evaluations.flatMap((kind) => this.#parts.evaluators[kind]);
  }

  async #finish({ planned, data, pass, update, save, evaluation, timer }: SubmittedStep): Promise<void> {
    const { plan, tokenizer, log } = this.#parts;
    const [output, updated] = await timer.measure('finish_batch', async () => [await pass, await update] as const);
    const results = { data, output, update: updated, evaluation, timings: timer.metrics() };
    await log.add(planned.step, stepMetrics(plan, planned, results, tokenizer), timer, save);
  }
}
