import type { CheckpointType } from '../paths/tinker-path.js';
import { codecOf } from './codec.js';
import { list, mapOf } from './collections.js';
import { date } from './dates.js';
import { queryObject, requestObject, responseObject, responseType } from './objects.js';
import { flag, integer, nullable, type OpenText, openOneOf, text } from './scalars.js';
import { type AccessScope, accessScope } from './sessions.js';
import { filled, optional } from './wire-type.js';

/** Saved weights. */
export interface Checkpoint {
  /** Usually `weights/{name}`, `sampler_weights/{name}` or `external_weights/{name}`. */
  readonly checkpointId: string;
  /** Text that is not a {@link CheckpointType} names a kind that this version does not know. */
  readonly checkpointType: OpenText<CheckpointType>;
  readonly time: Date;
  readonly tinkerPath: string;
  readonly sizeBytes?: number | undefined;
  readonly public: boolean;
  /** What was given when it was saved. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
  /** Unset: never. */
  readonly expiresAt?: Date | undefined;
}

const checkpointType = responseType<Checkpoint>({
  checkpointId: text(),
  checkpointType: openOneOf('training', 'sampler', 'external'),
  time: date(),
  tinkerPath: text(),
  sizeBytes: optional(integer()),
  public: filled(flag(), () => false),
  userMetadata: optional(mapOf(text())),
  expiresAt: optional(date()),
});

/** {@link Checkpoint} on the wire. */
export const checkpoint = codecOf<Checkpoint>('Checkpoint', checkpointType, { direction: 'response', isLenient: true });

/** Where a page of a list stands. */
export interface Cursor {
  readonly offset: number;
  readonly limit: number;
  readonly totalCount: number;
}

const cursorType = responseType<Cursor>({ offset: integer(), limit: integer(), totalCount: integer() });

/** {@link Cursor} on the wire. */
export const cursor = codecOf<Cursor>('Cursor', cursorType, { direction: 'response', isLenient: true });

/** Checkpoints of a run, or a page of all the user's. */
export interface CheckpointsListResponse {
  readonly checkpoints: readonly Checkpoint[];
  /** Unset in lists without pages. */
  readonly cursor?: Cursor | undefined;
}

/** {@link CheckpointsListResponse} on the wire. */
export const checkpointsListResponse = responseObject<CheckpointsListResponse>('CheckpointsListResponse', {
  checkpoints: list(checkpointType),
  cursor: optional(cursorType),
});

/** The query of all the user's checkpoints. */
export interface ListUserCheckpointsQuery {
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
}

/** {@link ListUserCheckpointsQuery} on the wire. */
export const listUserCheckpointsQuery = queryObject<ListUserCheckpointsQuery>('ListUserCheckpointsQuery', {
  limit: optional(integer({ min: 0 }), { fallback: () => 100 }),
  offset: optional(integer({ min: 0 }), { fallback: () => 0 }),
});

/** Where a checkpoint can be downloaded. */
export interface CheckpointArchiveUrlResponse {
  /** Signed: it gives access to anyone who has it. */
  readonly url: string;
  readonly expires: Date;
}

/** {@link CheckpointArchiveUrlResponse} on the wire. */
export const checkpointArchiveUrlResponse = responseObject<CheckpointArchiveUrlResponse>('CheckpointArchiveUrlResponse', {
  url: text(),
  expires: date(),
});

/** Sets when a checkpoint expires. */
export interface SetCheckpointTtlRequest {
  /** From now on; null: never. */
  readonly ttlSeconds: number | null;
}

/** {@link SetCheckpointTtlRequest} on the wire; the one request that sends null. */
export const setCheckpointTtlRequest = requestObject<SetCheckpointTtlRequest>('SetCheckpointTtlRequest', {
  ttlSeconds: nullable(integer({ min: 1 })),
});

/** The record of a model that is or was trained. */
export interface TrainingRun {
  readonly trainingRunId: string;
  readonly baseModel: string;
  readonly modelOwner: string;
  readonly isLora: boolean;
  readonly corrupted: boolean;
  readonly loraRank?: number | undefined;
  readonly lastRequestTime: Date;
  readonly lastCheckpoint?: Checkpoint | undefined;
  readonly lastSamplerCheckpoint?: Checkpoint | undefined;
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

const trainingRunType = responseType<TrainingRun>({
  trainingRunId: text(),
  baseModel: text(),
  modelOwner: text(),
  isLora: flag(),
  corrupted: filled(flag(), () => false),
  loraRank: optional(integer()),
  lastRequestTime: date(),
  lastCheckpoint: optional(checkpointType),
  lastSamplerCheckpoint: optional(checkpointType),
  userMetadata: optional(mapOf(text())),
});

/** {@link TrainingRun} on the wire. */
export const trainingRun = codecOf<TrainingRun>('TrainingRun', trainingRunType, { direction: 'response', isLenient: true });

/** A page of training runs. */
export interface TrainingRunsResponse {
  readonly trainingRuns: readonly TrainingRun[];
  readonly cursor: Cursor;
}

/** {@link TrainingRunsResponse} on the wire. */
export const trainingRunsResponse = responseObject<TrainingRunsResponse>('TrainingRunsResponse', {
  trainingRuns: list(trainingRunType),
  cursor: cursorType,
});

/** The query of the list of training runs. */
export interface ListTrainingRunsQuery {
  /** Default 20. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** Default `owned`. */
  readonly accessScope?: AccessScope | undefined;
  readonly projectId?: string | undefined;
}

/** {@link ListTrainingRunsQuery} on the wire. */
export const listTrainingRunsQuery = queryObject<ListTrainingRunsQuery>('ListTrainingRunsQuery', {
  limit: optional(integer({ min: 0 }), { fallback: () => 20 }),
  offset: optional(integer({ min: 0 }), { fallback: () => 0 }),
  accessScope: accessScope(),
  projectId: optional(text()),
});

/** The query of one training run. */
export interface GetTrainingRunQuery {
  /** Default `owned`. */
  readonly accessScope?: AccessScope | undefined;
}

/** {@link GetTrainingRunQuery} on the wire. */
export const getTrainingRunQuery = queryObject<GetTrainingRunQuery>('GetTrainingRunQuery', {
  accessScope: accessScope(),
});
