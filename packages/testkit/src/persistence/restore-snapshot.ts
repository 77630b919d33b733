import { DEFAULT_OPTIMIZER } from '@tinkex/types/wire';
import { Lane } from '../state/lane.js';
import type { ServerContext } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import type { BlobStore } from './blob-store.js';
import type { Snapshot, StoredModel, StoredTenant } from './snapshot.js';

/** Restores a stored state. Futures from before the restart are gone: polling them answers 410. */
export async function restoreSnapshot(server: ServerContext, snapshot: Snapshot, blobs: BlobStore): Promise<void> {
  for (const stored of snapshot.tenants) await restoreTenant(server, stored, blobs);
}

async function restoreTenant(server: ServerContext, stored: StoredTenant, blobs: BlobStore): Promise<void> {
  const tenant = server.tenants.restore(stored.keyHash, stored.label);
  tenant.futures.markExpired(stored.futures ?? []);
  for (const session of stored.sessions) {
    const modelSeqs = new Map(session.modelSeqs);
    tenant.futures.markExpired([...modelSeqs.values()].map(({ requestId }) => requestId));
    tenant.futures.markExpired((session.customLosses ?? []).map(([, { requestId }]) => requestId));
    // The time while the server was down does not count against a session.
    tenant.sessions.set(session.sessionId, {
      ...session,
      lastHeartbeatMs: server.clock.now(),
      modelSeqs,
      samplerSeqs: new Map(session.samplerSeqs),
      customLosses: new Map(session.customLosses),
    });
  }
  for (const { files, optimizer = DEFAULT_OPTIMIZER, ...rest } of stored.checkpoints) {
    tenant.checkpoints.set(rest.path, {
      ...rest,
      optimizer,
      expiresAtMs: rest.expiresAtMs,
      files: await blobs.get(files),
      archiveReadyAtMs: undefined,
    });
  }
  for (const { modelPath, files, copies = 0, ...rest } of stored.samplers) {
    const restored = files === null ? undefined : await blobs.get(files);
    tenant.samplers.set(rest.samplerId, {
      ...rest,
      modelPath: modelPath ?? undefined,
      files: restored,
      accepted: new Map(),
      completions: new Map(),
      copies,
      engine: undefined,
    });
  }
  for (const model of stored.models) await restoreModel(server, tenant, model, blobs);
  tenant.audit.push(...stored.audit);
  for (const { kind, amount, atMs, sessionId, baseModel } of stored.usage) tenant.addUsage(kind, amount, atMs, sessionId, baseModel);
}

async function restoreModel(server: ServerContext, tenant: Tenant, stored: StoredModel, blobs: BlobStore): Promise<void> {
  const { nextSeqId, accepted, files, userMetadata, optimizer = DEFAULT_OPTIMIZER, ...rest } = stored;
  const { baseModel, lora } = stored;
  const engine = files === null ? undefined : await server.engine.createModel({ baseModel, lora, optimizer });
  if (files !== null) await engine?.load(await blobs.get(files), { optimizer: true });
  tenant.futures.markExpired(accepted.map(([, { requestId }]) => requestId));
  tenant.models.set(stored.modelId, {
    ...rest,
    optimizer,
    userMetadata: userMetadata ?? undefined,
    engine,
    lane: new Lane({
      clock: server.clock,
      gapMs: server.settings.seqGapMs,
      next: nextSeqId,
      accepted,
      execute: (operation) => server.executor.execute(tenant, operation),
    }),
  });
}
