import type { EngineState } from '../engine/engine.js';
import { parseAcceptedId } from '../state/accepted-id.js';
import { Lane } from '../state/lane.js';
import {
  type AcceptedOperation,
  type AuditRecord,
  type CheckpointRecord,
  type ModelRecord,
  newProgress,
  type SamplerRecord,
  type SessionRecord,
  type UsageRecord,
} from '../state/records.js';
import type { ServerContext } from '../state/server-context.js';
import type { TableName } from '../state/state-changes.js';
import type { Replay, Tenant } from '../state/tenant.js';
import type { BlobStore, StoredFiles } from './blob-store.js';

/** What was stored, as the newest record of each kind and ID. */
export interface StoredTenant {
  readonly keyHash: string;
  /** All records of a table by ID, in the order in which they were first stored. */
  table<Value>(name: TableName): ReadonlyMap<string, Value>;
  /** What the engine of a model remembered, and at which revision; undefined when the model was not created yet, or is unloaded. */
  engineOf(modelId: string): { readonly revision: number; readonly state: EngineState } | undefined;
}

type StoredModel = Omit<ModelRecord, 'lane' | 'engine' | 'progress'>;
type StoredSampler = Omit<SamplerRecord, 'accepted' | 'completions' | 'engine' | 'files'> & { readonly files: StoredFiles | undefined };
type StoredCheckpoint = Omit<CheckpointRecord, 'files'> & { readonly files: StoredFiles };
type StoredProgress = { readonly revision: number; readonly hasLostChanges: boolean; readonly next: number };

/** Restores what was stored of a tenant. Futures from before the restart are gone: polling them answers 410. */
export async function restoreTenant(server: ServerContext, stored: StoredTenant, blobs: BlobStore): Promise<Tenant> {
  const { label, isRevoked } = stored.table<{ readonly label: string; readonly isRevoked: boolean }>('tenant').get('') ?? {};
  const tenant = server.tenants.add(stored.keyHash, label);
  tenant.isRevoked = isRevoked ?? false;
  tenant.futures.markExpired(stored.table('future').keys());
  for (const [sessionId, session] of stored.table<SessionRecord>('session')) {
    // Moments of another process mean nothing here, and the time while the server was down does not count against a session.
    tenant.sessions.set(sessionId, { ...session, lastHeartbeat: server.clock.monotonicMs(), traceAskedAt: undefined });
    for (const { requestId } of [...session.modelSeqs.values(), ...session.customLosses.values()]) tenant.futures.markExpired([requestId]);
  }
  for (const [path, { files, ...rest }] of stored.table<StoredCheckpoint>('checkpoint')) {
    tenant.checkpoints.set(path, { ...rest, files: blobs.get(files) });
  }
  for (const [samplerId, { files, ...rest }] of stored.table<StoredSampler>('sampler')) {
    const own = files && blobs.get(files);
    tenant.samplers.set(samplerId, { ...rest, files: own, accepted: new Map(), completions: new Map(), engine: undefined });
  }
  for (const [key, replay] of stored.table<Replay>('replay')) tenant.remember(key, replay);
  tenant.audit.push(...stored.table<AuditRecord>('audit').values());
  for (const { kind, amount, atMs, sessionId, baseModel } of stored.table<UsageRecord>('usage').values()) {
    tenant.addUsage(kind, amount, atMs, sessionId, baseModel);
  }
  await restoreModels(server, tenant, stored);
  return tenant;
}

async function restoreModels(server: ServerContext, tenant: Tenant, stored: StoredTenant): Promise<void> {
  const accepted = new Map<string, [number, AcceptedOperation][]>();
  for (const [id, operation] of stored.table<AcceptedOperation>('accepted')) {
    const { modelId, seqId } = parseAcceptedId(id);
    const known = accepted.get(modelId) ?? [];
    known.push([seqId, operation]);
    tenant.futures.markExpired([operation.requestId]);
    accepted.set(modelId, known);
  }
  const progress = stored.table<StoredProgress>('progress');
  for (const [modelId, model] of stored.table<StoredModel>('model')) {
    await restoreModel(server, tenant, model, accepted.get(modelId) ?? [], progress.get(modelId), stored.engineOf(modelId));
  }
}

async function restoreModel(
  server: ServerContext,
  tenant: Tenant,
  model: StoredModel,
  accepted: readonly [number, AcceptedOperation][],
  progress: StoredProgress | undefined,
  kept: ReturnType<StoredTenant['engineOf']>,
): Promise<void> {
  const { baseModel, lora, optimizer } = model;
  const engine = kept === undefined || model.isUnloaded ? undefined : await server.engine.createModel({ baseModel, lora, optimizer });
  if (kept !== undefined && engine?.restore !== undefined) await engine.restore(kept.state);
  else if (kept !== undefined) await engine?.load(kept.state, { optimizer: true });
  const revision = kept?.revision ?? 0;
  // Accepted operations that did not run are lost, like their futures: the lane does not wait for them.
  const next = accepted.reduce((most, [seqId]) => Math.max(most, seqId + 1), progress?.next ?? 0);
  tenant.models.set(model.modelId, {
    ...model,
    engine,
    progress: {
      ...newProgress(),
      revision,
      hasLostChanges: progress !== undefined && (progress.hasLostChanges || progress.revision > revision),
    },
    lane: new Lane({
      clock: server.clock,
      gapMs: server.settings.seqGapMs,
      next,
      accepted,
      execute: (operation) => server.executor.execute(tenant, operation),
    }),
  });
}
