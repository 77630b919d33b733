import type { CheckpointRecord, JsonRecord, RunFolder } from '@tinkex/telemetry/runs';
import { INITIAL_STATE, stepOf, type TrainingPlan, type TrainingState } from '../loop/plan.js';
import { numberOr, savedState, tokensOfRecord } from '../loop/state-record.js';

const DEFAULT_SUBMIT_AHEAD = 1;

type Shape = Pick<TrainingPlan, 'epochSizes'>;

/**
 * The state that a checkpoint was saved in. The weights of the reference's checkpoints are ahead of the position that their records say.
 *
 * @param countTokens - The tokens of the batches of steps `from` to `to`, `to` excluded.
 */
export async function stateOfRecord(
  plan: Shape,
  record: CheckpointRecord,
  { config }: Pick<RunFolder, 'config'>,
  countTokens: (from: number, to: number) => Promise<number>,
): Promise<TrainingState> {
  const ours = savedState(record);
  if (ours !== undefined) return ours;
  const tokens = tokensOfRecord(record.extra);
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
