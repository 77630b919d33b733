import type { AdamParams, Datum, ForwardBackwardOutput, LoraConfig, ModelInput, SampleResponse, SamplingParams } from '@tinkex/types';

type MaybePromise<T> = T | Promise<T>;

/**
 * What the server computes with. The server owns ids, order, futures and checkpoints' names; an engine owns weights and numbers.
 * All state that must survive goes through {@link CheckpointFiles}, so that any engine can be saved, archived and resumed.
 */
export interface Engine {
  readonly name: string;
  readonly supportedModels: readonly EngineModelInfo[];
  createModel(spec: ModelSpec): MaybePromise<EngineModel>;
  /** A fixed set of weights to sample from: the base model alone, or with a saved adapter. */
  createSampler(spec: { readonly baseModel: string; readonly checkpoint?: CheckpointFiles }): MaybePromise<EngineSampler>;
}

export interface EngineModelInfo {
  readonly modelName: string;
  readonly maxContextLength: number;
  readonly tokenizerId: string;
  readonly arch: string;
}

export interface ModelSpec {
  readonly baseModel: string;
  readonly lora: LoraConfig;
}

/** File name to content, as it stands in a checkpoint archive (`adapter_config.json`, `adapter_model.safetensors`, …). */
export type CheckpointFiles = ReadonlyMap<string, Uint8Array>;

export interface EngineModel {
  /** With `backward` the gradients are added to those already accumulated. */
  forward(input: EngineForwardInput, options: { readonly backward: boolean }): MaybePromise<ForwardBackwardOutput>;
  /** Applies the accumulated gradients and clears them. */
  optimStep(params: AdamParams): MaybePromise<{ readonly metrics: Record<string, number> }>;
  save(kind: 'training' | 'sampler'): MaybePromise<CheckpointFiles>;
  /** Replaces the weights; with `optimizer` the optimizer's state too, else it starts afresh. Accumulated gradients are dropped. */
  load(checkpoint: CheckpointFiles, options: { readonly optimizer: boolean }): MaybePromise<void>;
}

export interface EngineForwardInput {
  readonly data: readonly Datum[];
  readonly lossFn: string;
  readonly lossFnConfig?: Readonly<Record<string, number>>;
}

export interface EngineSampler {
  sample(input: EngineSampleInput): MaybePromise<SampleResponse>;
}

export interface EngineSampleInput {
  readonly prompt: ModelInput;
  readonly numSamples: number;
  readonly samplingParams: SamplingParams;
  readonly promptLogprobs: boolean;
  readonly topkPromptLogprobs: number;
}

/** The caller's fault, in the engine's words: the server answers it as a failed promise of category `user`. */
export class EngineUserError extends Error {
  override readonly name = 'EngineUserError';
}
