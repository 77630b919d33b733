import type { Json, JsonRecord } from './run-json.js';

/** One line of `checkpoints.jsonl`: a checkpoint, and where the loop stands with it. */
export interface CheckpointRecord {
  /** The checkpoint's name on the server: the step with six digits, or `final`. */
  readonly name: string;
  /** Which batch of the epoch comes next. */
  readonly batch?: number | undefined;
  readonly epoch?: number | undefined;
  /** Whether the run is complete. */
  readonly final?: boolean | undefined;
  /** Weights and optimizer state, `tinker://…/weights/…`. */
  readonly statePath?: string | undefined;
  /** Weights to sample from, `tinker://…/sampler_weights/…`. */
  readonly samplerPath?: string | undefined;
  /** All other fields, as they are in the file and in its order. */
  readonly extra: JsonRecord;
}

/** Reads a line of `checkpoints.jsonl`. Fields it does not know stay in `extra`. Undefined without a name. */
export function decodeCheckpointRecord(json: JsonRecord): CheckpointRecord | undefined {
  const { name, batch, epoch, final, state_path: statePath, sampler_path: samplerPath, ...extra } = json;
  if (typeof name !== 'string') return undefined;
  return {
    name,
    batch: numberOf(batch),
    epoch: numberOf(epoch),
    final: typeof final === 'boolean' ? final : undefined,
    statePath: typeof statePath === 'string' ? statePath : undefined,
    samplerPath: typeof samplerPath === 'string' ? samplerPath : undefined,
    extra,
  };
}

/** A record as it is written, with its fields in the reference's order. */
export function encodeCheckpointRecord({ name, batch, epoch, final, statePath, samplerPath, extra }: CheckpointRecord): JsonRecord {
  return { name, batch, epoch, final, state_path: statePath, sampler_path: samplerPath, ...extra };
}

/** The last record with a path of the wanted kind. Training continues from the last one with a `statePath`, the default. */
export function lastCheckpoint(
  records: readonly CheckpointRecord[],
  kind: 'statePath' | 'samplerPath' = 'statePath',
): CheckpointRecord | undefined {
  return records.findLast((record) => record[kind] !== undefined);
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
