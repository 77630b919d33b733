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
  /** Whether a checkpoint of the same name may be replaced, with its metadata. Default false. */
  readonly overwrite?: boolean | undefined;
  /** How many steps the model has been trained. Kept with the checkpoint (`userMetadata.step`); `service.resume` returns it. */
  readonly step?: number | undefined;
  /** Facts about the checkpoint, shown in lists of checkpoints. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

/** Options of `saveWeightsForSampler`. */
export interface SaveWeightsForSamplerOptions extends CallOptions {
  /** Seconds until the weights are deleted. Default: never. */
  readonly ttlSeconds?: number | undefined;
  /** Facts about the checkpoint, shown in lists of checkpoints. */
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
}

/** Options of `saveWeightsExternal`. */
export interface SaveWeightsExternalOptions extends CallOptions {
  /** Seconds until the files are deleted. Default: never. */
  readonly ttlSeconds?: number | undefined;
  /**
   * Public keys, 1 to 10, of age (`age1…`) or SSH. Only their owners can then read the files, whose names end in `.age`. Default: the files
   * are not encrypted.
   */
  readonly ageEncryptionRecipients?: readonly string[] | undefined;
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

/** Where weights were saved as files. */
export interface SavedExternalWeights {
  /** A `tinker://` path. */
  readonly path: string;
  /** Size of all files together, if the server names it. */
  readonly sizeBytes?: number | undefined;
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
