import type { ApiFuture, TrainingClient } from '@tinkex/clients';
import type { CheckpointRecord, RunWriter } from '@tinkex/telemetry/runs';
import type { SaveKind } from './save-policy.js';

/** How long checkpoints are kept. */
export interface CheckpointLifetimes {
  /** Seconds until a periodic checkpoint is deleted; `null` keeps it. Default 7 days. */
  readonly ttlSeconds?: number | null | undefined;
  /** Seconds until a rolling checkpoint is deleted. Default 2 hours. */
  readonly rollingTtlSeconds?: number | undefined;
}

/** What a checkpointer is made of. */
export interface CheckpointerOptions extends CheckpointLifetimes {
  readonly training: Pick<TrainingClient, 'saveState' | 'saveWeightsForSampler'>;
  readonly writer: Pick<RunWriter, 'appendCheckpoint'>;
  /** Deletes a rolling checkpoint that a newer one replaces. */
  readonly deleteCheckpoint: (path: string) => Promise<unknown>;
  /** Called when a rolling save or a deletion fails, which does not end the run. */
  readonly onWarning: (message: string, cause: unknown) => void;
}

/** Where the loop stands with a checkpoint, as its record says. */
export type CheckpointPosition = Pick<CheckpointRecord, 'batch' | 'epoch' | 'extra'>;

/** A save that was submitted and is not recorded yet. */
export interface PendingSave {
  readonly kind: SaveKind | 'final';
  readonly name: string;
  readonly position: CheckpointPosition;
  readonly state: ApiFuture<{ readonly path: string }>;
  readonly sampler?: ApiFuture<{ readonly path: string }> | undefined;
}

const DEFAULT_TTL_SECONDS = 604_800;
const DEFAULT_ROLLING_TTL_SECONDS = 7_200;

/** Saves checkpoints and records them in the run folder. One at a time deletes what it replaces. */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #rollingPath: string | undefined;

  /** @param rollingPath - The rolling checkpoint of an earlier process, to be deleted when a newer one exists. */
  constructor(options: CheckpointerOptions, rollingPath?: string) {
    this.#options = options;
    this.#rollingPath = rollingPath;
  }

  /** Submits a save behind everything that was submitted before, without waiting. Nothing that is submitted later is part of it. */
  submit(kind: PendingSave['kind'], name: string, position: CheckpointPosition): PendingSave {
    const { training, ttlSeconds = DEFAULT_TTL_SECONDS, rollingTtlSeconds = DEFAULT_ROLLING_TTL_SECONDS } = this.#options;
    if (kind === 'rolling') return { kind, name, position, state: training.saveState(name, { ttlSeconds: rollingTtlSeconds }) };
    const options = { ttlSeconds: kind === 'final' ? undefined : (ttlSeconds ?? undefined) };
    const state = training.saveState(name, options);
    return { kind, name, position, state, sampler: training.saveWeightsForSampler(name, options) };
  }

  /** Waits for a save and records it. Call it when everything that was submitted before it has succeeded. Undefined if a rolling save failed. */
  async record(save: PendingSave): Promise<CheckpointRecord | undefined> {
    const { kind, name, position } = save;
    let statePath: string;
    try {
      statePath = (await save.state).path;
    } catch (error) {
      if (kind !== 'rolling') throw error;
      this.#options.onWarning(`The rolling checkpoint ${name} was not saved.`, error);
      return undefined;
    }
    const samplerPath = (await save.sampler)?.path;
    const { extra, ...place } = position;
    const record: CheckpointRecord = {
      name,
      ...place,
      final: kind === 'final' ? true : undefined,
      statePath,
      samplerPath,
      extra: kind === 'rolling' ? { ...extra, rolling: true } : extra,
    };
    await this.#options.writer.appendCheckpoint(record);
    if (kind !== 'periodic') await this.#replaceRolling(kind === 'rolling' ? statePath : undefined);
    return record;
  }

  async #replaceRolling(path: string | undefined): Promise<void> {
    const replaced = this.#rollingPath;
    this.#rollingPath = path;
    if (replaced === undefined) return;
    try {
      await this.#options.deleteCheckpoint(replaced);
    } catch (error) {
      this.#options.onWarning(`The rolling checkpoint ${replaced} was not deleted. It expires by itself.`, error);
    }
  }
}
