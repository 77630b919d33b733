import type { JsonObject } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';

/** Options of `forward` and `forwardBackward`. */
export interface PassOptions extends CallOptions {
  /** Numbers the loss function takes, such as `{ clip_low_threshold: 0.8 }`. Names are sent as written. */
  readonly lossFnConfig?: Readonly<Record<string, number>>;
}

/** Options of `saveState`. */
export interface SaveStateOptions extends CallOptions {
  /** Seconds until the checkpoint is deleted. Default: never. */
  readonly ttlSeconds?: number;
  /** Whether a checkpoint of the same name may be replaced. Default false. */
  readonly overwrite?: boolean;
}

/** Options of `saveWeightsForSampler`. */
export interface SaveWeightsForSamplerOptions extends CallOptions {
  /** Seconds until the weights are deleted. Default: never. */
  readonly ttlSeconds?: number;
}

/** Options of `loadState` and `loadStateWithOptimizer`. */
export interface LoadStateOptions extends CallOptions {
  /** A credential of the account that owns the weights, when it is another one. Sent as given. */
  readonly weightsAccessToken?: string;
}

/** Where saved sampler weights are. */
export interface SavedSamplerWeights {
  /** A `tinker://` path. */
  readonly path: string;
}

/** A new adapter. */
export interface LoraTrainingOptions {
  readonly baseModel: string;
  /** Rank of the adapter. Default 32. */
  readonly rank?: number;
  /** Seed of the adapter's initial weights. Default: the server's choice. */
  readonly seed?: number | bigint;
  /** Whether the adapter covers the MLP layers. Default true. At least one of the three must be true. */
  readonly trainMlp?: boolean;
  /** Whether the adapter covers the attention layers. Default true. */
  readonly trainAttn?: boolean;
  /** Whether the adapter covers the output layer. Default true. */
  readonly trainUnembed?: boolean;
  /** Free-form facts about the run. */
  readonly userMetadata?: JsonObject;
}

/** A model made of saved weights. */
export interface FromStateOptions {
  /** Another, compatible base model. Default: the one the weights were trained on. */
  readonly baseModel?: string;
  readonly userMetadata?: JsonObject;
  /** A credential of the account that owns the weights, when it is another one. */
  readonly weightsAccessToken?: string;
}
