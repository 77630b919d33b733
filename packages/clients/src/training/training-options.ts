import type { JsonObject, LossFnConfig, OptimizerConfig, OptimizerFamily } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';

/** Options of `forward` and `forwardBackward`. */
export interface PassOptions extends CallOptions {
  /** Parameters of the loss function, such as `{ clip_low_threshold: 0.8 }`: numbers, texts, true or false. Names are sent as written. */
  readonly lossFnConfig?: LossFnConfig | undefined;
}

/** Options of `saveState`. */
export interface SaveStateOptions extends CallOptions {
  /** Seconds until the checkpoint is deleted. Default: never. */
  readonly ttlSeconds?: number | undefined;
  /** Whether a checkpoint of the same name may be replaced. Default false. */
  readonly overwrite?: boolean | undefined;
}

/** Options of `saveWeightsForSampler`. */
export interface SaveWeightsForSamplerOptions extends CallOptions {
  /** Seconds until the weights are deleted. Default: never. */
  readonly ttlSeconds?: number | undefined;
}

/** Options of `loadState` and `loadStateWithOptimizer`. */
export interface LoadStateOptions extends CallOptions {
  /** A credential of the account that owns the weights, if that is another one. Sent as given. */
  readonly weightsAccessToken?: string | undefined;
}

/** Where saved sampler weights are. */
export interface SavedSamplerWeights {
  /** A `tinker://` path. */
  readonly path: string;
}

/** A new adapter. */
export interface LoraTrainingOptions<Family extends OptimizerFamily = OptimizerFamily> extends CallOptions {
  readonly baseModel: string;
  /** Rank of the adapter. Default 32. */
  readonly rank?: number | undefined;
  /** Seed of the adapter's initial weights. Default: the server chooses. */
  readonly seed?: number | bigint | undefined;
  /** Whether the adapter covers the MLP layers. Default true. At least one of the three must be true. */
  readonly trainMlp?: boolean | undefined;
  /** Whether the adapter covers the attention layers. Default true. */
  readonly trainAttn?: boolean | undefined;
  /** Whether the adapter covers the output layer. Default true. */
  readonly trainUnembed?: boolean | undefined;
  /** The optimizer, for the life of the model: `{ type: 'dimuon' }`. Default AdamW. */
  readonly optimizer?: (OptimizerConfig & { readonly type: Family }) | undefined;
  /** Free-form facts about the run. */
  readonly userMetadata?: JsonObject | undefined;
}

/** A model created from saved weights. */
export interface FromStateOptions extends CallOptions {
  /** Another, compatible base model. Default: the one the weights were trained on. */
  readonly baseModel?: string | undefined;
  /** Free-form facts about the run. */
  readonly userMetadata?: JsonObject | undefined;
  /** A credential of the account that owns the weights, if that is another one. */
  readonly weightsAccessToken?: string | undefined;
}

/** A model created from saved weights with a new optimizer. */
export interface FromWeightsOptions<Family extends OptimizerFamily = OptimizerFamily> extends FromStateOptions {
  /** The optimizer, for the life of the model; it need not be the one that the weights were trained with. Default AdamW. */
  readonly optimizer?: (OptimizerConfig & { readonly type: Family }) | undefined;
}
