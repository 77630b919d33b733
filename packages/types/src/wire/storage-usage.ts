import { list } from './collections.js';
import { queryObject, responseObject, responseType } from './objects.js';
import { integer, number, text } from './scalars.js';
import { optional } from './wire-type.js';

/** The query of the storage in use. */
export interface StorageUsageQuery {
  /** Only this project. */
  readonly projectId?: string | undefined;
}

/** {@link StorageUsageQuery} on the wire. */
export const storageUsageQuery = queryObject<StorageUsageQuery>('StorageUsageQuery', { projectId: optional(text()) });

/** The checkpoints of one owner in one project. */
export interface CheckpointStorageUsage {
  readonly projectId?: string | undefined;
  readonly orgUserUrn?: string | undefined;
  readonly userEmail?: string | undefined;
  readonly userName?: string | undefined;
  readonly checkpointCount: number;
  readonly sizeBytes: number;
  readonly sizeGigabytes: number;
  readonly estimatedMonthlyCostUsd?: number | undefined;
}

/** The storage that checkpoints use now, by project and owner. May lag by an hour or two. */
export interface CurrentCheckpointStorageUsageResponse {
  readonly effectiveRateUsdPerGigabyteMonth?: number | undefined;
  readonly data: readonly CheckpointStorageUsage[];
}

/** {@link CurrentCheckpointStorageUsageResponse} on the wire. */
export const currentCheckpointStorageUsageResponse = responseObject<CurrentCheckpointStorageUsageResponse>(
  'CurrentCheckpointStorageUsageResponse',
  {
    effectiveRateUsdPerGigabyteMonth: optional(number()),
    data: list(
      responseType<CheckpointStorageUsage>({
        projectId: optional(text()),
        orgUserUrn: optional(text()),
        userEmail: optional(text()),
        userName: optional(text()),
        checkpointCount: integer(),
        sizeBytes: integer(),
        sizeGigabytes: number(),
        estimatedMonthlyCostUsd: optional(number()),
      }),
    ),
  },
);
