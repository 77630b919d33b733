import type { JsonObject } from '../json/json-value.js';
import { jsonObject, mapOf } from './collections.js';
import { requestObject, responseObject } from './objects.js';
import { DEFAULT_OPTIMIZER, type OptimizerConfig, optimizerConfig } from './optimizers.js';
import { flag, integer, text } from './scalars.js';
import { filled, optional } from './wire-type.js';

/**
 * Loads saved weights: into a model that exists (`modelId`, `seqId`), or into a new one (`sessionId`, `modelSeqId`). Answered by
 * a future of a {@link LoadWeightsResponse}.
 */
export interface LoadWeightsRequest {
  readonly modelId?: string | undefined;
  /** From 1 up. */
  readonly seqId?: number | undefined;
  readonly sessionId?: string | undefined;
  readonly modelSeqId?: number | undefined;
  /** Only with `sessionId`: another, compatible base model. */
  readonly baseModel?: string | undefined;
  /** Only with `sessionId`. */
  readonly userMetadata?: JsonObject | undefined;
  /** A `tinker://` path. */
  readonly path: string;
  /** Whether the optimizer's state is loaded too. */
  readonly optimizer: boolean;
  /** Only with `sessionId`, and only without the optimizer's state. Unset: AdamW. */
  readonly optimizerConfig?: OptimizerConfig | undefined;
  /** The credential of another account that owns the weights. */
  readonly weightsAccessToken?: string | undefined;
}

/** {@link LoadWeightsRequest} on the wire. */
export const loadWeightsRequest = requestObject<LoadWeightsRequest>(
  'LoadWeightsRequest',
  {
    modelId: optional(text()),
    seqId: optional(integer({ min: 1 })),
    sessionId: optional(text()),
    modelSeqId: optional(integer({ min: 0 })),
    baseModel: optional(text()),
    userMetadata: optional(jsonObject()),
    path: text({ isNonEmpty: true }),
    optimizer: flag(),
    optimizerConfig: optional(optimizerConfig({ isResponse: false })),
    weightsAccessToken: optional(text()),
  },
  {
    tag: 'load_weights',
    check({ modelId, sessionId, modelSeqId, seqId, baseModel, userMetadata, optimizer, optimizerConfig: config }) {
      if ((modelId === undefined) === (sessionId === undefined)) {
        return { field: 'modelId', message: 'must be set to load into a model, or sessionId to create one; exactly one of them' };
      }
      if (config !== undefined && (optimizer || sessionId === undefined)) {
        return { field: 'optimizerConfig', message: 'belongs to sessionId without the state of an optimizer; leave it out' };
      }
      if (sessionId !== undefined) {
        if (modelSeqId === undefined) return { field: 'modelSeqId', message: 'is required together with sessionId' };
        return seqId === undefined ? undefined : { field: 'seqId', message: 'belongs to modelId; leave it out together with sessionId' };
      }
      if (modelSeqId !== undefined) return { field: 'modelSeqId', message: 'belongs to sessionId; leave it out together with modelId' };
      if (baseModel !== undefined) return { field: 'baseModel', message: 'belongs to sessionId; leave it out together with modelId' };
      return userMetadata === undefined
        ? undefined
        : { field: 'userMetadata', message: 'belongs to sessionId; leave it out together with modelId' };
    },
  },
);

/** Weights were loaded. */
export interface LoadWeightsResponse {
  readonly path?: string | undefined;
  readonly modelId?: string | undefined;
}

/** {@link LoadWeightsResponse} on the wire. */
export const loadWeightsResponse = responseObject<LoadWeightsResponse>(
  'LoadWeightsResponse',
  { path: optional(text()), modelId: optional(text()) },
  { tag: 'load_weights' },
);

/** Saves weights and optimizer state. Answered by a future of a {@link SaveWeightsResponse}. */
export interface SaveWeightsRequest {
  readonly modelId: string;
  /** The name of the checkpoint. */
  readonly path?: string | undefined;
  /** From 1 up. */
  readonly seqId?: number | undefined;
  /** Unset: kept forever. */
  readonly ttlSeconds?: number | undefined;
  /** Default false. */
  readonly overwrite?: boolean | undefined;
  /** Replaces that of the checkpoint it overwrites, also when unset. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

/** {@link SaveWeightsRequest} on the wire. */
export const saveWeightsRequest = requestObject<SaveWeightsRequest>(
  'SaveWeightsRequest',
  {
    modelId: text(),
    path: optional(text()),
    seqId: optional(integer({ min: 1 })),
    ttlSeconds: optional(integer({ min: 1 })),
    overwrite: optional(flag(), { fallback: () => false }),
    userMetadata: optional(mapOf(text())),
  },
  { tag: 'save_weights' },
);

/** Where the weights were saved. */
export interface SaveWeightsResponse {
  /** A `tinker://` path. */
  readonly path: string;
}

/** {@link SaveWeightsResponse} on the wire. */
export const saveWeightsResponse = responseObject<SaveWeightsResponse>('SaveWeightsResponse', { path: text() }, { tag: 'save_weights' });

/**
 * Saves weights to sample from: under a name (`path`), or only for one sampling session (`samplingSessionSeqId`). Answered by a
 * future of a {@link SaveWeightsForSamplerResponse}.
 */
export interface SaveWeightsForSamplerRequest {
  readonly modelId: string;
  /** The name of the checkpoint. */
  readonly path?: string | undefined;
  /** Counts the sampling sessions of a session, from 0. */
  readonly samplingSessionSeqId?: number | undefined;
  /** From 1 up. */
  readonly seqId?: number | undefined;
  /** Only with `path`. Unset: kept forever. */
  readonly ttlSeconds?: number | undefined;
  /** Only with `path`. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

/** {@link SaveWeightsForSamplerRequest} on the wire. */
export const saveWeightsForSamplerRequest = requestObject<SaveWeightsForSamplerRequest>(
  'SaveWeightsForSamplerRequest',
  {
    modelId: text(),
    path: optional(text()),
    samplingSessionSeqId: optional(integer({ min: 0 })),
    seqId: optional(integer({ min: 1 })),
    ttlSeconds: optional(integer({ min: 1 })),
    userMetadata: optional(mapOf(text())),
  },
  {
    tag: 'save_weights_for_sampler',
    check: ({ path, samplingSessionSeqId }) =>
      (path === undefined) === (samplingSessionSeqId === undefined)
        ? { field: 'path', message: 'must be set to save under a name, or samplingSessionSeqId to sample immediately; exactly one of them' }
        : undefined,
  },
);

/** Where the weights were saved (`path`), or the sampling session that was created from them. */
export interface SaveWeightsForSamplerResponse {
  /** A `tinker://` path, when saved under a name. */
  readonly path?: string | undefined;
  /** When saved without a name. */
  readonly samplingSessionId?: string | undefined;
}

/** {@link SaveWeightsForSamplerResponse} on the wire. */
export const saveWeightsForSamplerResponse = responseObject<SaveWeightsForSamplerResponse>(
  'SaveWeightsForSamplerResponse',
  { path: optional(text()), samplingSessionId: optional(text()) },
  { tag: 'save_weights_for_sampler' },
);

/** Requests what is needed to load weights. */
export interface WeightsInfoRequest {
  readonly tinkerPath: string;
}

/** {@link WeightsInfoRequest} on the wire. */
export const weightsInfoRequest = requestObject<WeightsInfoRequest>('WeightsInfoRequest', {
  tinkerPath: text(),
});

/** What is needed to load weights. */
export interface WeightsInfoResponse {
  readonly baseModel: string;
  /** The optimizer that the weights were trained with; AdamW where the server does not say. */
  readonly optimizerConfig: OptimizerConfig;
  readonly isLora: boolean;
  readonly loraRank?: number | undefined;
  readonly trainUnembed?: boolean | undefined;
  readonly trainMlp?: boolean | undefined;
  readonly trainAttn?: boolean | undefined;
}

/** {@link WeightsInfoResponse} on the wire. */
export const weightsInfoResponse = responseObject<WeightsInfoResponse>('WeightsInfoResponse', {
  baseModel: text(),
  optimizerConfig: filled(optimizerConfig({ isResponse: true }), () => DEFAULT_OPTIMIZER, { allowsNull: false }),
  isLora: flag(),
  loraRank: optional(integer()),
  trainUnembed: optional(flag()),
  trainMlp: optional(flag()),
  trainAttn: optional(flag()),
});
