import type { CheckpointPosition } from '../checkpoints/checkpointer.js';
import { positionOf, type TrainingPlan, type TrainingState } from '../loop/plan.js';
import { stateFields } from '../loop/state-record.js';

/** Where a checkpoint of a state stands, as its record says it. The reference continues at the same batch. */
export function positionRecord(plan: Pick<TrainingPlan, 'epochSizes'>, state: TrainingState): CheckpointPosition {
  return { ...positionOf(plan, state.step), extra: stateFields(state) };
}
