import type { ModelRecord } from '../state/records.js';
import type { ServerContext } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import type { BlobStore } from './blob-store.js';
import type { Snapshot, StoredModel, StoredTenant } from './snapshot.js';

/** Writes all weights to the blob store and describes the rest. */
export async function takeSnapshot(server: ServerContext, blobs: BlobStore): Promise<Snapshot> {
  const tenants: StoredTenant[] = [];
  for (const [keyHash, tenant] of server.tenants.entries()) tenants.push(await storedTenant(keyHash, tenant, blobs));
  return { version: 1, idCount: server.ids.count, tenants };
}

async function storedTenant(keyHash: string, tenant: Tenant, blobs: BlobStore): Promise<StoredTenant> {
  const models: StoredModel[] = [];
  for (const model of tenant.models.values()) models.push(await storedModel(model, blobs));
  const samplers = [];
  for (const { samplerId, sessionId, baseModel, modelPath, files, copies } of tenant.samplers.values()) {
    samplers.push({
      samplerId,
      sessionId,
      baseModel,
      modelPath: modelPath ?? null,
      files: files === undefined ? null : await blobs.put(files),
      copies,
    });
  }
  const checkpoints = [];
  for (const { archiveReadyAtMs: _notKept, files, ...rest } of tenant.checkpoints.values()) {
    checkpoints.push({ ...rest, files: await blobs.put(files) });
  }
  return {
    keyHash,
    label: tenant.label,
    sessions: [...tenant.sessions.values()].map((session) => ({
      ...session,
      modelSeqs: [...session.modelSeqs],
      samplerSeqs: [...session.samplerSeqs],
      customLosses: [...session.customLosses],
    })),
    models,
    samplers,
    checkpoints,
    audit: tenant.audit,
    usage: [...tenant.usage],
    futures: [...tenant.futures.unfetched()],
  };
}

async function storedModel(model: ModelRecord, blobs: BlobStore): Promise<StoredModel> {
  const { modelId, sessionId, modelSeqId, baseModel, lora, optimizer, userMetadata, lastRequestMs, isUnloaded, copiedInto, lane, engine } =
    model;
  // Read before the weights: operations accepted while the weights are written are not part of them.
  const nextSeqId = lane.next;
  const accepted = [...lane.accepted()].filter(([seqId]) => seqId < nextSeqId);
  const files = engine === undefined ? null : await blobs.put(await engine.save('training'));
  return {
    modelId,
    sessionId,
    modelSeqId,
    baseModel,
    lora,
    optimizer,
    userMetadata: userMetadata ?? null,
    lastRequestMs,
    isUnloaded,
    copiedInto,
    nextSeqId,
    accepted,
    files,
  };
}
