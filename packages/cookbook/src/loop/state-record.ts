import type { CheckpointRecord, JsonRecord } from '@tinkex/telemetry/runs';
import type { TrainingState } from './plan.js';

/** The key of a record that only we write. Its step is the next one to run. A record without it is the reference's. */
const MARKER = 'tinkex';

/** A state as the other fields of a record hold it. */
export function stateFields({ step, tokens, elapsedMs, savedTokens, savedMs }: TrainingState): JsonRecord {
  const marker = { next_step: step, elapsed_ms: elapsedMs, saved_tokens: savedTokens, saved_ms: savedMs };
  return { elapsed_tokens: tokens, [MARKER]: marker };
}

/** The state that we saved a checkpoint in; undefined for a record of the reference. */
export function savedState({ extra, batch }: CheckpointRecord): TrainingState | undefined {
  const marker = extra[MARKER] as JsonRecord | undefined;
  if (marker === undefined) return undefined;
  const tokens = tokensOfRecord(extra);
  return {
    step: numberOr(marker.next_step, batch ?? 0),
    tokens,
    elapsedMs: numberOr(marker.elapsed_ms, 0),
    savedTokens: numberOr(marker.saved_tokens, tokens),
    savedMs: numberOr(marker.saved_ms, 0),
  };
}

/** Whether we saved a checkpoint right before a step. */
export function isSavedAt(record: CheckpointRecord | undefined, step: number): boolean {
  return (record?.extra[MARKER] as JsonRecord | undefined)?.next_step === step;
}

/** The tokens trained on before a checkpoint. */
export function tokensOfRecord(extra: JsonRecord): number {
  return numberOr(extra.elapsed_tokens, 0);
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
