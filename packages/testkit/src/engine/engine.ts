import type {
  AdamParams,
  Datum,
  DimuonParams,
  ForwardBackwardOutput,
  LoraConfig,
  LossFnConfig,
  ModelInput,
  OptimizerConfig,
  SampleResponse,
  SamplingParams,
  TensorData,
} from '@tinkex/types';
import type { CustomLossProgram } from '@tinkex/types/custom-loss';

type MaybePromise<T> = T | Promise<T>;

/** The base model that every built-in engine serves. */
export const DEFAULT_BASE_MODEL = 'tinkex/tiny';

/**
 * Computes for the server. The server owns ids, order, futures and the names of checkpoints; an engine owns weights and numbers.
 * All state that must survive goes through {@link CheckpointFiles}, so that any engine can be saved, archived and resumed.
 */
export interface Engine {
  readonly name: string;
  readonly supportedModels: readonly EngineModelInfo[];
  /** The optimizers that its models can have. The server refuses others. Default: only `adamw`. */
  readonly optimizers?: readonly OptimizerConfig['type'][] | undefined;
  /** The losses that its models compute. The server refuses others. Default: the model decides, when the operation runs. */
  readonly lossFunctions?: readonly string[] | undefined;
  /** What the engine counts, for a server that keeps its state across restarts. Default: nothing. */
  readonly counters?: EngineCounters | undefined;
  /** A base model by its name. Define it to offer models that `supportedModels` does not list. Default: a look into `supportedModels`. */
  findModel?(modelName: string): EngineModelInfo | undefined;
  createModel(spec: ModelSpec): MaybePromise<EngineModel>;
  /** A fixed set of weights to sample from: the base model alone, or with a saved adapter. */
  createSampler(spec: { readonly baseModel: string; readonly checkpoint?: CheckpointFiles | undefined }): MaybePromise<EngineSampler>;
}

/** A base model as the server announces it. */
export interface EngineModelInfo {
  readonly modelName: string;
  /** In tokens, prompt and answer together. */
  readonly maxContextLength: number;
  readonly tokenizerId: string;
  /** The architecture, as `get_info` reports it. */
  readonly arch: string;
  /** As the capabilities announce it. Default true. */
  readonly trainable?: boolean | undefined;
  /** As the capabilities announce it. Default true. */
  readonly sampleable?: boolean | undefined;
}

/** The base model of an engine with this name. */
export function findBaseModel(engine: Engine, name: string): EngineModelInfo | undefined {
  return engine.findModel === undefined ? engine.supportedModels.find(({ modelName }) => modelName === name) : engine.findModel(name);
}

/** What to train: a base model, the adapter on it, and by which optimizer. */
export interface ModelSpec {
  readonly baseModel: string;
  readonly lora: LoraConfig;
  /** One of the engine's `optimizers`. Default AdamW. */
  readonly optimizer?: OptimizerConfig | undefined;
}

/** The content of the files of a checkpoint, by name (`adapter_config.json`, `adapter_model.safetensors`, …). */
export type CheckpointFiles = ReadonlyMap<string, Uint8Array>;

/** All that a model remembers between operations, in named parts. */
export type EngineState = ReadonlyMap<string, Uint8Array>;

/** Numbers that an engine counts across models, such as how often a prompt was sampled. */
export interface EngineCounters {
  /** All of them. */
  entries(): Iterable<readonly [name: string, value: number]>;
  /** Those that have changed since the last call. */
  takeChanged(): Iterable<readonly [name: string, value: number]>;
  /** Continues from before a restart. */
  restore(entries: Iterable<readonly [name: string, value: number]>): void;
}

/** A model in training. The server calls one method at a time, in the order of the sequence IDs. */
export interface EngineModel {
  /** Computes the loss of every datum. With `backward` the gradients are added to those already accumulated. */
  forward(input: EngineForwardInput, options: { readonly backward: boolean }): MaybePromise<ForwardBackwardOutput>;
  /** Applies the accumulated gradients and clears them. The settings are those of the model's optimizer. */
  optimStep(params: AdamParams | DimuonParams): MaybePromise<{ readonly metrics: Record<string, number> }>;
  /** `training` contains all that `load` with the optimizer needs; `sampler` contains only the weights. */
  save(kind: 'training' | 'sampler'): MaybePromise<CheckpointFiles>;
  /** Replaces the weights, and the optimizer's state with `optimizer` (otherwise it is reset). Drops accumulated gradients. */
  load(checkpoint: CheckpointFiles, options: { readonly optimizer: boolean }): MaybePromise<void>;
  /**
   * Weights, optimizer and accumulated gradients, for a server that keeps its state across restarts. Live memory is welcome: the server
   * reads it before the next operation and writes only what has changed. Parts should keep their names and sizes. Without this method the
   * server keeps `save('training')`, and a restart loses gradients that were not applied yet.
   */
  state?(): EngineState;
  /** Continues from a state of a model with the same specification. */
  restore?(state: EngineState): MaybePromise<void>;
}

/** The content of a forward or forward-backward request. */
export interface EngineForwardInput {
  readonly data: readonly Datum[];
  /** As on the wire, e.g. `cross_entropy`. */
  readonly lossFn: string;
  /** Names as on the wire, e.g. `clip_low_threshold`. */
  readonly lossFnConfig?: LossFnConfig | undefined;
  /** The loss to run, for the loss function `custom`. The server has found it by its ID. */
  readonly customLoss?: CustomLossProgram | undefined;
}

/** Fixed weights to sample from. */
export interface EngineSampler {
  sample(input: EngineSampleInput): MaybePromise<SampleResponse>;
}

/** The content of a sample request. */
export interface EngineSampleInput {
  readonly prompt: ModelInput;
  readonly numSamples: number;
  readonly samplingParams: SamplingParams;
  /** Whether to score the prompt's tokens. */
  readonly promptLogprobs: boolean;
  /** How many of the most likely tokens to return for each prompt position; 0 for none. */
  readonly topkPromptLogprobs: number;
  /** How many of the most likely tokens to return for each sampled token. Unset: none. */
  readonly topkSampleLogprobs?: number | undefined;
  /** Token ids to score, `int64`, [prompt tokens - 1, K]; -1 for none. Row i belongs to prompt position i + 1. */
  readonly targetPromptLogprobs?: TensorData | undefined;
  /** How many tokens to draw for each prompt position after the first. Unset: none. */
  readonly promptAltTokensK?: number | undefined;
  /** Scores only the last n prompt tokens; the others get NaN. Unset: all. */
  readonly promptLogprobsLastN?: number | undefined;
}

/** Thrown by an engine for an error of the caller. The server fails the future with the category `user`. */
export class EngineUserError extends Error {
  override readonly name = 'EngineUserError';
}
