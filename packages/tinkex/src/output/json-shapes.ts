import type {
  BillingUsageResponse,
  Checkpoint,
  CurrentCheckpointStorageUsageResponse,
  GetSamplerResponse,
  SessionSummary,
  SupportedModel,
  TrainingRun,
} from '@tinkex/types';
import { pythonTime } from './format-time.js';
import type { JsonFields } from './show-result.js';

// What `--json` prints for the objects of the API: the field names, the order and the times of the reference command, and null for what is unset.

/** A checkpoint. */
export function checkpointJson(checkpoint: Checkpoint): JsonFields {
  return {
    checkpoint_id: checkpoint.checkpointId,
    checkpoint_type: checkpoint.checkpointType,
    time: pythonTime(checkpoint.time),
    tinker_path: checkpoint.tinkerPath,
    size_bytes: checkpoint.sizeBytes ?? null,
    public: checkpoint.public,
    user_metadata: checkpoint.userMetadata ?? null,
    expires_at: checkpoint.expiresAt === undefined ? null : pythonTime(checkpoint.expiresAt),
  };
}

/** A training run. */
export function runJson(run: TrainingRun): JsonFields {
  return {
    training_run_id: run.trainingRunId,
    base_model: run.baseModel,
    model_owner: run.modelOwner,
    is_lora: run.isLora,
    corrupted: run.corrupted,
    lora_rank: run.loraRank ?? null,
    last_request_time: pythonTime(run.lastRequestTime),
    last_checkpoint: run.lastCheckpoint === undefined ? null : checkpointJson(run.lastCheckpoint),
    last_sampler_checkpoint: run.lastSamplerCheckpoint === undefined ? null : checkpointJson(run.lastSamplerCheckpoint),
    user_metadata: run.userMetadata ?? null,
  };
}

/** A model of the server. */
export function modelJson(model: SupportedModel): JsonFields {
  return {
    model_name: model.modelName ?? null,
    max_context_length: model.maxContextLength ?? null,
    trainable: model.trainable ?? null,
    sampleable: model.sampleable ?? null,
  };
}

/** A session that a search found. */
export function sessionJson(session: SessionSummary): JsonFields {
  return {
    session_id: session.sessionId,
    created_at: pythonTime(session.createdAt),
    owner: session.owner,
    project_id: session.projectId,
    checkpoints_count: session.checkpointsCount,
    status: session.status === undefined ? null : snakeKeys(session.status),
    display_name: session.displayName ?? null,
    user_metadata: session.userMetadata ?? null,
    checkpoint_storage_bytes: session.checkpointStorageBytes ?? null,
  };
}

/** A sampler. */
export function samplerJson(sampler: GetSamplerResponse): JsonFields {
  return { sampler_id: sampler.samplerId, base_model: sampler.baseModel, model_path: sampler.modelPath ?? null };
}

/** What was used. Times are ISO 8601 here. */
export function usageJson({ data, sessions, costDataThrough }: BillingUsageResponse): {
  readonly data: readonly JsonFields[];
  readonly sessions: Readonly<Record<string, JsonFields>>;
  readonly cost_data_through: string | null;
} {
  return {
    data: data.map((event) => ({
      bucket_start: isoTime(event.bucketStart),
      bucket_end: isoTime(event.bucketEnd),
      base_model: event.baseModel ?? null,
      user_id: event.userId ?? null,
      user_name: event.userName ?? null,
      session_id: event.sessionId ?? null,
      project_id: event.projectId ?? null,
      estimated_cost_usd: event.estimatedCostUsd ?? null,
      effective_rate_usd_per_million_tokens: event.effectiveRateUsdPerMillionTokens ?? null,
      effective_rate_usd_per_gigabyte_month: event.effectiveRateUsdPerGigabyteMonth ?? null,
      event_info: snakeKeys(event.eventInfo),
    })),
    sessions: Object.fromEntries(Object.entries(sessions).map(([id, { userMetadata }]) => [id, { user_metadata: userMetadata ?? null }])),
    cost_data_through: costDataThrough === undefined ? null : isoTime(costDataThrough),
  };
}

/** The storage in use. */
export function storageJson({ effectiveRateUsdPerGigabyteMonth, data }: CurrentCheckpointStorageUsageResponse): {
  readonly effective_rate_usd_per_gigabyte_month: number | null;
  readonly data: readonly JsonFields[];
} {
  return {
    effective_rate_usd_per_gigabyte_month: effectiveRateUsdPerGigabyteMonth ?? null,
    data: data.map((usage) => ({
      project_id: usage.projectId ?? null,
      org_user_urn: usage.orgUserUrn ?? null,
      user_email: usage.userEmail ?? null,
      user_name: usage.userName ?? null,
      checkpoint_count: usage.checkpointCount,
      size_bytes: usage.sizeBytes,
      size_gigabytes: usage.sizeGigabytes,
      estimated_monthly_cost_usd: usage.estimatedMonthlyCostUsd ?? null,
    })),
  };
}

function isoTime(moment: Date): string {
  return moment.toISOString().replace('.000Z', 'Z');
}

/** A flat object with snake_case names. */
function snakeKeys(value: object): JsonFields {
  const entries = Object.entries(value).map(([name, each]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    each ?? null,
  ]);
  return Object.fromEntries(entries) as JsonFields;
}
