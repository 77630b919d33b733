import type { CheckpointFiles } from '../engine/engine.js';

/** Saved weights. */
export interface CheckpointRecord {
  readonly path: string;
  readonly trainingRunId: string;
  readonly name: string;
  readonly kind: 'training' | 'sampler';
  readonly baseModel: string;
  readonly loraRank: number;
  readonly trains: { readonly unembed: boolean; readonly mlp: boolean; readonly attn: boolean };
  readonly savedAtMs: number;
  readonly sizeBytes: number;
  readonly files: CheckpointFiles;
  isPublic: boolean;
  expiresAtMs: number | undefined;
  /** When its archive can be fetched; set by the first request for it. */
  archiveReadyAtMs: number | undefined;
}
