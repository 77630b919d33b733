import type { MonotonicTime } from '@tinkex/http/clock';
import type { CheckpointType, CustomLossDefinition, LoraConfig, OptimizerConfig, SessionFinishReason } from '@tinkex/types';
import type { CheckpointFiles, EngineModel, EngineSampler } from '../engine/engine.js';
import type { CompletionLog } from './completion-log.js';
import type { Lane } from './lane.js';

/** What identifies a repeat of an accepted operation. */
export interface AcceptedOperation {
  /** The fingerprint of the body: equal for a repeat. */
  readonly fingerprint: string;
  readonly requestId: string;
}

/** The session of one client process. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly tags: readonly string[];
  readonly userMetadata: Readonly<Record<string, unknown>>;
  readonly sdkVersion: string;
  readonly displayName: string | undefined;
  projectId: string | undefined;
  lastHeartbeat: MonotonicTime;
  /** How its client ended it; set once. */
  finished: { readonly reason: SessionFinishReason; readonly detail: string | undefined } | undefined;
  /** Accepted creations by `model_seq_id`. */
  readonly modelSeqs: Map<number, AcceptedOperation>;
  /** Sampling sessions by `sampling_session_seq_id`. */
  readonly samplerSeqs: Map<number, { readonly fingerprint: string; readonly samplerId: string }>;
  /** Custom losses by `custom_loss_seq_id`. */
  readonly customLosses: Map<number, AcceptedOperation & { readonly lossId: string; readonly definition: CustomLossDefinition }>;
  /** When a trace export was first requested. */
  traceAskedAt: MonotonicTime | undefined;
}

/** How far a model's training has come. */
export interface ModelProgress {
  /** How often its engine has changed. */
  revision: number;
  /** Whether an operation is running in its engine. */
  isBusy: boolean;
  /** Set by a restart that lost changes whose results the client may have seen. The next operation learns of it. */
  hasLostChanges: boolean;
}

/** The progress of a new model. */
export function newProgress(): ModelProgress {
  return { revision: 0, isBusy: false, hasLostChanges: false };
}

/** A LoRA adapter being trained. */
export interface ModelRecord {
  readonly modelId: string;
  readonly sessionId: string;
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly lora: LoraConfig;
  readonly optimizer: OptimizerConfig;
  readonly userMetadata: Readonly<Record<string, unknown>> | undefined;
  readonly lane: Lane;
  lastRequestMs: number;
  readonly progress: ModelProgress;
  /** Set once the creation has run. */
  engine: EngineModel | undefined;
  isUnloaded: boolean;
  /** The project of a run that only holds copied weights and cannot be trained. */
  readonly copiedInto?: string | undefined;
}

/** A fixed set of weights to sample from. */
export interface SamplerRecord {
  readonly samplerId: string;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly modelPath: string | undefined;
  /** By `seq_id` as text: exact for ids beyond 2^53. */
  readonly accepted: Map<string, AcceptedOperation>;
  /** What has ended, by holder of the sampling session. */
  readonly completions: Map<number, CompletionLog>;
  /** How many other holders have joined. */
  copies: number;
  /** The saved adapter; undefined for the base model alone. */
  readonly files: CheckpointFiles | undefined;
  /** Created on first use. */
  engine: Promise<EngineSampler> | undefined;
}

/** Saved weights. */
export interface CheckpointRecord {
  readonly path: string;
  readonly trainingRunId: string;
  readonly name: string;
  readonly kind: CheckpointType;
  readonly baseModel: string;
  readonly loraRank: number;
  /** The optimizer that the weights were trained with. */
  readonly optimizer: OptimizerConfig;
  readonly trains: { readonly unembed: boolean; readonly mlp: boolean; readonly attn: boolean };
  readonly savedAtMs: number;
  readonly sizeBytes: number;
  /** A copy holds the same object as its source. */
  readonly files: CheckpointFiles;
  readonly userMetadata: Readonly<Record<string, string>> | undefined;
  isPublic: boolean;
  expiresAtMs: number | undefined;
  /** When its archive can be fetched; set by the first request for it. */
  archiveReadyAt: MonotonicTime | undefined;
}

/** An entry of the audit log. */
export interface AuditRecord {
  readonly atMs: number;
  readonly event: string;
  readonly modelId: string | undefined;
  readonly path: string | undefined;
}

/** Something that would be billed. */
export interface UsageRecord {
  readonly atMs: number;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly kind: 'training' | 'sampling_prefill' | 'sampling_sample' | 'checkpoint';
  amount: number;
}
