import type { CheckpointFiles } from '../engine/engine.js';
import { textFingerprint } from '../requests/fingerprint.js';
import { refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { OperationFailure } from '../state/executor.js';
import type { CheckpointRecord, ModelRecord } from '../state/records.js';
import { liveCheckpoint, wallClockMs } from '../state/server-context.js';
import { modelOf } from './lookup.js';
import { addSampler } from './sampling.js';
import { submitTraining } from './training-submission.js';

const SEGMENTS = { training: 'weights', external: 'external_weights' } as const;

export const saveWeights: RouteHandler<'saveWeights'> = (context) => {
  const { modelId, seqId, path: name = `checkpoint-${seqId}`, ttlSeconds, userMetadata } = context.request;
  const { nameClash } = context.server.dialect;
  const overwrite = nameClash === 'overwrite' || (nameClash !== 'error' && (context.request.overwrite ?? false));
  const model = modelOf(context, modelId);
  checkName(context, name);
  checkTtl(context, ttlSeconds);
  const path = checkpointPath(context, model.modelId, 'training', name);
  if (!overwrite) refuseClash(context, model, seqId, path);
  return submitTraining(context, {
    model,
    seqId,
    requestType: 'SaveWeights',
    run: async (engine) => {
      if (!overwrite && liveCheckpoint(context.server, context.tenant, path) !== undefined) {
        throw new OperationFailure({ error: `The checkpoint ${path} already exists; save with overwrite to replace it`, category: 'user' });
      }
      keepCheckpoint(context, model, { path, name, kind: 'training', ttlSeconds, userMetadata, files: await engine.save('training') });
      return { path };
    },
  });
};

export const saveWeightsForSampler: RouteHandler<'saveWeightsForSampler'> = (context) => {
  const { modelId, seqId, path: name, samplingSessionSeqId, ttlSeconds, userMetadata } = context.request;
  const model = modelOf(context, modelId);
  if (name !== undefined) {
    checkName(context, name);
    refuseClash(context, model, seqId, checkpointPath(context, modelId, 'sampler', name));
  }
  checkTtl(context, ttlSeconds);
  return submitTraining(context, {
    model,
    seqId,
    requestType: 'SaveWeightsForSampler',
    // A repeated unnamed save carries a new sampling_session_seq_id but is still the same operation.
    fingerprint: textFingerprint(JSON.stringify([name, ttlSeconds, userMetadata])),
    run: async (engine) => {
      const files = await engine.save('sampler');
      if (name === undefined) return { samplingSessionId: ephemeralSampler(context, model, samplingSessionSeqId ?? 0, files) };
      const path = checkpointPath(context, model.modelId, 'sampler', name);
      keepCheckpoint(context, model, { path, name, kind: 'sampler', ttlSeconds, userMetadata, files });
      return { path };
    },
  });
};

function ephemeralSampler(context: RequestContext, model: ModelRecord, samplingSessionSeqId: number, files: CheckpointFiles): string {
  const { sessionId, baseModel } = model;
  const samplerId = context.server.ids.sampler(sessionId, samplingSessionSeqId);
  if (context.tenant.samplers.has(samplerId)) {
    throw new OperationFailure({ error: `sampling_session_seq_id ${samplingSessionSeqId} was used before`, category: 'user' });
  }
  addSampler(context, { samplerId, sessionId, baseModel, checkpoint: { files } });
  context.tenant.sessions.get(sessionId)?.samplerSeqs.set(samplingSessionSeqId, { fingerprint: 'ephemeral', samplerId });
  context.tenant.changed('session', sessionId);
  return samplerId;
}

/** Refuses names that the dialect does not allow. */
export function checkName({ server }: RequestContext, name: string): void {
  // Control characters and names that a file system reads as a folder, whatever the dialect.
  if (/\p{Cc}/u.test(name) || /^\.+$/.test(name)) refuse(400, `The checkpoint name ${JSON.stringify(name)} is not allowed`);
  if (!server.dialect.checkpointName.test(name)) {
    refuse(400, `The checkpoint name ${JSON.stringify(name)} is not allowed: it must match ${server.dialect.checkpointName.source}`);
  }
}

/** Refuses a time-to-live outside the dialect's range. */
export function checkTtl({ server }: RequestContext, ttlSeconds: number | null | undefined): void {
  const { min, max } = server.dialect.ttlSeconds;
  if (typeof ttlSeconds === 'number' && (ttlSeconds < min || ttlSeconds > max)) {
    refuse(400, `ttl_seconds must be from ${min} to ${max}, got ${ttlSeconds}`);
  }
}

/** Refuses a name that is taken, where the dialect does so at the submission. A repeated submission is not a clash with itself. */
function refuseClash({ server, tenant }: RequestContext, { modelId, lane }: ModelRecord, seqId: number | undefined, path: string): void {
  const { nameClash } = server.dialect;
  const isRefused = nameClash === 'conflict' || nameClash === 'error';
  const isRepeat = seqId !== undefined && lane.find(seqId) !== undefined;
  if (!isRefused || isRepeat || liveCheckpoint(server, tenant, path) === undefined) return;
  // Unlike other conflicts, this one is final.
  if (seqId !== undefined) tenant.skip(modelId, seqId, server.dialect);
  if (nameClash === 'error') refuse(500, 'Internal Server Error');
  refuse(409, `The checkpoint ${path} already exists`);
}

/** The path of a checkpoint, as the dialect writes it. */
export function checkpointPath({ server }: RequestContext, modelId: string, kind: CheckpointRecord['kind'], name: string): string {
  const segment = kind === 'sampler' ? server.dialect.samplerSegment : SEGMENTS[kind];
  return `tinker://${[modelId, segment, name].filter((part) => part !== '').join('/')}`;
}

/** Stores a checkpoint, in place of one that has the same path. */
export function keepCheckpoint(
  { server, tenant }: RequestContext,
  model: ModelRecord,
  saved: Pick<CheckpointRecord, 'path' | 'name' | 'kind' | 'files' | 'userMetadata'> & { readonly ttlSeconds: number | undefined },
): void {
  const { ttlSeconds, ...rest } = saved;
  const nowMs = wallClockMs(server);
  const { trainUnembed = true, trainMlp = true, trainAttn = true } = model.lora;
  tenant.checkpoints.delete(saved.path);
  tenant.checkpoints.set(saved.path, {
    ...rest,
    trainingRunId: model.modelId,
    baseModel: model.baseModel,
    loraRank: model.lora.rank,
    optimizer: model.optimizer,
    trains: { unembed: trainUnembed, mlp: trainMlp, attn: trainAttn },
    savedAtMs: nowMs,
    sizeBytes: sizeOf(saved.files),
    isPublic: false,
    expiresAtMs: ttlSeconds === undefined ? undefined : nowMs + ttlSeconds * 1000,
    archiveReadyAt: undefined,
  });
  tenant.changed('checkpoint', saved.path);
  tenant.addAudit({ atMs: nowMs, event: 'checkpoint_saved', modelId: model.modelId, path: saved.path });
  tenant.addUsage('checkpoint', 1, nowMs, model.sessionId, model.baseModel);
}

/** The size of all files together. */
export function sizeOf(files: CheckpointFiles): number {
  return [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
}
