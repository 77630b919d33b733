import type { LoraConfig } from '@tinkex/types';
import type { AcceptedOperation, AuditRecord, CheckpointRecord, SessionRecord, UsageRecord } from '../state/records.js';
import type { StoredFiles } from './blob-store.js';

/** What is written of a session. */
export type StoredSession = Omit<SessionRecord, 'modelSeqs' | 'samplerSeqs'> & {
  readonly modelSeqs: readonly (readonly [number, AcceptedOperation])[];
  readonly samplerSeqs: readonly (readonly [number, { readonly fingerprint: string; readonly samplerId: string }])[];
};

/** What is written of a model. Gradients not yet applied are not kept. */
export interface StoredModel {
  readonly modelId: string;
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly lora: LoraConfig;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  readonly lastRequestMs: number;
  readonly isUnloaded: boolean;
  readonly nextSeqId: number;
  readonly accepted: readonly (readonly [number, AcceptedOperation])[];
  /** Weights and optimizer; null before the creation has run and after the model was unloaded. */
  readonly files: StoredFiles | null;
}

/** What is written of a sampler. */
export interface StoredSampler {
  readonly samplerId: string;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly modelPath: string | null;
  readonly files: StoredFiles | null;
}

/** What is written of a checkpoint. */
export type StoredCheckpoint = Omit<CheckpointRecord, 'files' | 'archiveReadyAtMs'> & { readonly files: StoredFiles };

/** What is written of a tenant. The key itself never is. */
export interface StoredTenant {
  readonly keyHash: string;
  readonly label: string;
  readonly sessions: readonly StoredSession[];
  readonly models: readonly StoredModel[];
  readonly samplers: readonly StoredSampler[];
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly audit: readonly AuditRecord[];
  readonly usage: readonly UsageRecord[];
  /** Ids of futures that clients may still poll: in the next life they are gone, not unknown. Missing in older states. */
  readonly futures?: readonly string[] | undefined;
}

/** The state of a server on disk. */
export interface Snapshot {
  readonly version: 1;
  readonly idCount: number;
  readonly tenants: readonly StoredTenant[];
}
