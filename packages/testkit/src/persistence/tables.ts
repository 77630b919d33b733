import { acceptedId, parseAcceptedId } from '../state/accepted-id.js';
import type { TableName } from '../state/state-changes.js';
import type { Tenant } from '../state/tenant.js';
import type { BlobStore } from './blob-store.js';

/** How one kind of record is read from a tenant. */
interface Table {
  ids(tenant: Tenant): Iterable<string>;
  /** The record as it is stored; undefined when it does not exist (any more). */
  read(tenant: Tenant, id: string, blobs: BlobStore): unknown;
}

/** Every kind of record. What is stored of a tenant is exactly this. */
export const TABLES: Readonly<Record<TableName, Table>> = {
  tenant: {
    ids: () => [''],
    read: ({ label, isRevoked }) => ({ label, isRevoked }),
  },
  session: {
    ids: ({ sessions }) => sessions.keys(),
    read: ({ sessions }, id) => sessions.get(id),
  },
  model: {
    ids: ({ models }) => models.keys(),
    read: ({ models }, id) => {
      const model = models.get(id);
      if (model === undefined) return undefined;
      const { lane: _lane, engine: _engine, progress: _progress, ...rest } = model;
      return rest;
    },
  },
  accepted: {
    ids: function* ({ models }) {
      for (const { modelId, lane } of models.values()) for (const [seqId] of lane.accepted()) yield acceptedId(modelId, seqId);
    },
    read: ({ models }, id) => {
      const { modelId, seqId } = parseAcceptedId(id);
      return models.get(modelId)?.lane.find(seqId);
    },
  },
  progress: {
    ids: ({ models }) => models.keys(),
    read: ({ models }, id) => {
      const model = models.get(id);
      return model && { revision: model.progress.revision, hasLostChanges: model.progress.hasLostChanges, next: model.lane.next };
    },
  },
  sampler: {
    ids: ({ samplers }) => samplers.keys(),
    read: ({ samplers }, id, blobs) => {
      const sampler = samplers.get(id);
      if (sampler === undefined) return undefined;
      const { accepted: _accepted, completions: _completions, engine: _engine, files, ...rest } = sampler;
      return { ...rest, files: files && blobs.put(files) };
    },
  },
  checkpoint: {
    ids: ({ checkpoints }) => checkpoints.keys(),
    read: ({ checkpoints }, id, blobs) => {
      const checkpoint = checkpoints.get(id);
      return checkpoint && { ...checkpoint, files: blobs.put(checkpoint.files), archiveReadyAt: undefined };
    },
  },
  // Only that there was a future is stored: after a restart it has expired.
  future: {
    ids: function* ({ futures }) {
      yield* futures.unfetched();
      yield* futures.expired();
    },
    read: ({ futures }, id) => (futures.find(id) === undefined ? undefined : true),
  },
  replay: {
    ids: (tenant) => tenant.replayKeys(),
    read: (tenant, id) => tenant.replay(id),
  },
  audit: {
    ids: ({ audit }) => Array.from(audit.keys(), String),
    read: ({ audit }, id) => audit[Number(id)],
  },
  usage: {
    ids: (tenant) => tenant.usageKeys(),
    read: (tenant, id) => tenant.usageOf(id),
  },
};

/** The tables whose records are on disk before a reply acknowledges them, whatever the durability. */
export const SAVED_FIRST: ReadonlySet<TableName> = new Set<TableName>(['tenant', 'session', 'model', 'sampler', 'checkpoint']);
