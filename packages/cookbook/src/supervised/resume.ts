import type { CheckpointRecord, JsonRecord, RunFolder } from '@tinkex/telemetry/runs';
import { INITIAL_STATE, positionOf, type SupervisedPlan, type SupervisedState, stepOf } from './plan.js';

/**
 * The key of a record that only we write. Its step is the next one to run. A record without it is the reference's, whose weights are ahead of the position
 * that it says.
 */
const MARKER = 'tinkex';
const DEFAULT_SUBMIT_AHEAD = 1;

type Shape = Pick<SupervisedPlan, 'epochSizes'>;

/** Where a checkpoint of a state stands, as its record says it. The reference continues at the same batch. */
export function positionRecord(plan: Shape, state: SupervisedState): Required<Pick<CheckpointRecord, 'epoch' | 'batch' | 'extra'>> {
  const { step, tokens, elapsedMs, savedTokens, savedMs } = state;
  const marker = { next_step: step, elapsed_ms: elapsedMs, saved_tokens: savedTokens, saved_ms: savedMs };
  return { ...positionOf(plan, step), extra: { elapsed_tokens: tokens, [MARKER]: marker } };
}

/** Whether we saved a checkpoint right before a step. */
export function isSavedAt(record: CheckpointRecord | undefined, step: number): boolean {
  return (record?.extra[MARKER] as JsonRecord | undefined)?.next_step === step;
}

/**
 * The state that a checkpoint was saved in.
 *
 * @param countTokens - The tokens of the batches of steps `from` to `to`, `to` excluded.
 */
export async function stateOfRecord(
  plan: Shape,
  record: CheckpointRecord,
  { config }: Pick<RunFolder, 'config'>,
  countTokens: (from: number, to: number) => Promise<number>,
): Promise<SupervisedState> {
  const marker = record.extra[MARKER] as JsonRecord | undefined;
  const tokens = numberOr(record.extra.elapsed_tokens, 0);
  if (marker !== undefined) {
    return {
      step: numberOr(marker.next_step, stepOf(plan, record.epoch ?? 0, record.batch ?? 0)),
      tokens,
      elapsedMs: numberOr(marker.elapsed_ms, 0),
      savedTokens: numberOr(marker.saved_tokens, tokens),
      savedMs: numberOr(marker.saved_ms, 0),
    };
  }
  const said = stepOf(plan, record.epoch ?? 0, record.batch ?? 0);
  const lastStep = lastStepOfReference(plan, config);
  if (record.name === 'final') return { ...INITIAL_STATE, step: Math.min(said, lastStep), tokens, savedTokens: tokens };
  // Its save was submitted after the step that it says, and after those submitted ahead. Its tokens include only the former.
  const step = Math.min(said + 1 + numberOr(config?.submit_ahead, DEFAULT_SUBMIT_AHEAD), lastStep);
  const allTokens = tokens + (await countTokens(Math.min(said + 1, step), step));
  return { ...INITIAL_STATE, step, tokens: allTokens, savedTokens: allTokens };
}

/** Where the reference's run was going to end: its final record says the end of the data also when `max_steps` stopped it. */
function lastStepOfReference(plan: Shape, config: JsonRecord | undefined): number {
  const epochs = numberOr(config?.num_epochs, plan.epochSizes.length);
  const sizes = plan.epochSizes;
  const size = sizes[0] ?? 0;
  const allSteps = epochs <= sizes.length ? stepOf(plan, epochs, 0) : size * epochs;
  return Math.min(allSteps, numberOr(config?.max_steps, Number.POSITIVE_INFINITY));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
