import type { LoraConfig, OptimizerConfig } from '@tinkex/types';
import type { AcceptedOperation, AuditRecord, CheckpointRecord, SessionRecord, UsageRecord } from '../state/records.js';
import type { StoredFiles } from './blob-store.js';

type MapEntry<T> = T extends ReadonlyMap<infer Key, infer Value> ? readonly [Key, Value] : never;

/** A session on disk. */
export type StoredSession = Omit<SessionRecord, 'modelSeqs' | 'samplerSeqs' | 'customLosses'> & {
  readonly modelSeqs: readonly (readonly [number, AcceptedOperation])[];
  /** Missing in the state of servers that had none. */
  readonly customLosses?: readonly MapEntry<SessionRecord['customLosses']>[] | undefined;
  readonly samplerSeqs: readonly (readonly [number, { readonly fingerprint: string; readonly samplerId: string }])[];
};

/** A model on disk. Gradients that were not applied yet are not kept. */
export interface StoredModel {
  readonly modelId: string;
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly lora: LoraConfig;
  /** Default AdamW. */
  readonly optimizer?: OptimizerConfig | undefined;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  readonly lastRequestMs: number;
  readonly isUnloaded: boolean;
  readonly copiedInto?: string | undefined;
  readonly nextSeqId: number;
  readonly accepted: readonly (readonly [number, AcceptedOperation])[];
  /** Weights and optimizer; null until the creation has run and after the model is unloaded. */
  readonly files: StoredFiles | null;
}

/** A sampler on disk. */
export interface StoredSampler {
  readonly samplerId: string;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly modelPath: string | null;
  readonly files: StoredFiles | null;
  /** How many other holders have joined. Unset: none. */
  readonly copies?: number | undefined;
}

/** A checkpoint on disk. */
export type StoredCheckpoint = Omit<CheckpointRecord, 'files' | 'archiveReadyAtMs' | 'optimizer'> & {
  readonly files: StoredFiles;
  /** Default AdamW. */
  readonly optimizer?: OptimizerConfig | undefined;
};

/** A tenant on disk, without its key. */
export interface StoredTenant {
  readonly keyHash: string;
  readonly label: string;
  readonly sessions: readonly StoredSession[];
  readonly models: readonly StoredModel[];
  readonly samplers: readonly StoredSampler[];
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly audit: readonly AuditRecord[];
  readonly usage: readonly UsageRecord[];
  /** Ids of futures that clients may still poll: after a restart they are gone (410), not unknown (404). */
  readonly futures?: readonly string[] | undefined;
}

/** The state of a server on disk. */
export interface Snapshot {
  readonly version: 1;
  readonly idCount: number;
  readonly tenants: readonly StoredTenant[];
}
