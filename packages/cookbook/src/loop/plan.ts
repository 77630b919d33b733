import type { AdamParams } from '@tinkex/types';
import { dueSave, type SaveKind, type SavePolicy } from '../checkpoints/save-policy.js';
import { type LrSchedule, lrMultiplier } from './lr-schedule.js';

/** What a run consists of, whichever loop trains it. It never changes while the run lasts. */
export interface TrainingPlan {
  /** The number of batches of each epoch. */
  readonly epochSizes: readonly number[];
  /** All steps: those of the epochs, or fewer. */
  readonly totalSteps: number;
  readonly learningRate: number;
  readonly lrSchedule: LrSchedule;
  readonly warmupSteps: number;
  readonly adam: AdamParams;
  /** Steps between evaluations; 0 for none. */
  readonly evalEvery: number;
  readonly infrequentEvalEvery: number;
  readonly saves: SavePolicy;
  readonly maxTokens?: number | undefined;
  readonly maxMs?: number | undefined;
}

/** Where a run stands between two steps. A checkpoint's record holds exactly this. */
export interface TrainingState {
  /** The next step. All before it are in the weights, none after. */
  readonly step: number;
  /** Tokens of the steps before. */
  readonly tokens: number;
  /** Time spent on the steps before, over all processes. */
  readonly elapsedMs: number;
  /** Tokens and time at the last periodic save. */
  readonly savedTokens: number;
  readonly savedMs: number;
}

/** Why a run ended. */
export type StopReason = 'completed' | 'max_steps' | 'max_tokens' | 'max_seconds' | 'max_cost' | 'aborted';

/** A step to submit. */
export interface PlannedStep {
  readonly step: number;
  readonly epoch: number;
  readonly batch: number;
  /** Which evaluators run before it. */
  readonly evaluations: readonly ('frequent' | 'infrequent')[];
  readonly adamParams: AdamParams & { readonly learningRate: number };
  /** Which save is submitted behind it. */
  readonly save: SaveKind | undefined;
  /** Where the run stands after it. */
  readonly next: TrainingState;
}

export const INITIAL_STATE: TrainingState = { step: 0, tokens: 0, elapsedMs: 0, savedTokens: 0, savedMs: 0 };

/** The epoch and batch of a step. At the end of the data: the epoch after the last. */
export function positionOf(
  { epochSizes }: Pick<TrainingPlan, 'epochSizes'>,
  step: number,
): { readonly epoch: number; readonly batch: number } {
  let batch = step;
  for (const [epoch, size] of epochSizes.entries()) {
    if (batch < size) return { epoch, batch };
    batch -= size;
  }
  return { epoch: epochSizes.length, batch: 0 };
}

/** The step of an epoch and batch. */
export function stepOf({ epochSizes }: Pick<TrainingPlan, 'epochSizes'>, epoch: number, batch: number): number {
  return epochSizes.slice(0, epoch).reduce((sum, size) => sum + size, 0) + batch;
}

/** Why no step follows, as far as the plan alone says. */
export function endOfPlan({ epochSizes, totalSteps }: TrainingPlan, { step }: TrainingState): StopReason | undefined {
  if (step < totalSteps) return undefined;
  return step < stepOf({ epochSizes }, epochSizes.length, 0) ? 'max_steps' : 'completed';
}

/**
 * What comes next: a step, or the reason to stop. A pure function, so that a resumed run decides as the first one did.
 *
 * @param batchTokens - The tokens of the batch at the state's position.
 * @param elapsedMs - Time spent so far, over all processes.
 */
export function planStep(plan: TrainingPlan, state: TrainingState, batchTokens: number, elapsedMs: number): PlannedStep | StopReason {
  const end = endOfPlan(plan, state);
  if (end !== undefined) return end;
  const {
    totalSteps,
    learningRate,
    lrSchedule,
    warmupSteps,
    adam,
    saves,
    maxTokens = Number.POSITIVE_INFINITY,
    maxMs = Number.POSITIVE_INFINITY,
  } = plan;
  const tokens = state.tokens + batchTokens;
  if (tokens > maxTokens) return 'max_tokens';
  if (elapsedMs >= maxMs) return 'max_seconds';
  const { step } = state;
  const marks = { tokens: state.savedTokens, elapsedMs: state.savedMs };
  const isLast = step + 1 === totalSteps;
  const save = isLast ? undefined : dueSave(saves, marks, { step: step + 1, tokens, elapsedMs });
  const newMarks =
    save === 'periodic' ? { savedTokens: tokens, savedMs: elapsedMs } : { savedTokens: state.savedTokens, savedMs: state.savedMs };
  return {
    step,
    ...positionOf(plan, step),
    evaluations: dueEvaluations(plan, step),
    adamParams: { ...adam, learningRate: learningRate * lrMultiplier(lrSchedule, step, totalSteps, warmupSteps) },
    save,
    next: { step: step + 1, tokens, elapsedMs, ...newMarks },
  };
}

function dueEvaluations({ evalEvery, infrequentEvalEvery }: TrainingPlan, step: number): ('frequent' | 'infrequent')[] {
  const isDue = (every: number) => every > 0 && step % every === 0;
  return [...(isDue(evalEvery) ? ['frequent' as const] : []), ...(isDue(infrequentEvalEvery) ? ['infrequent' as const] : [])];
}
