import type { JsonObject } from '../json/json-value.js';
import { codecOf } from './codec.js';
import { jsonObject } from './collections.js';
import { requestObject, requestType, responseObject, responseType } from './objects.js';
import { DEFAULT_OPTIMIZER, type OptimizerConfig, optimizerConfig } from './optimizers.js';
import { flag, integer, integer64, text } from './scalars.js';
import { filled, optional } from './wire-type.js';

/** The adapter to train. */
export interface LoraConfig {
  /** The rank of the low-rank matrices, from 1 up. */
  readonly rank: number;
  /** Makes the initial weights repeatable. */
  readonly seed?: number | bigint | undefined;
  /** Default true. */
  readonly trainUnembed?: boolean | undefined;
  /** Default true. */
  readonly trainMlp?: boolean | undefined;
  /** Default true. */
  readonly trainAttn?: boolean | undefined;
}

/** A {@link LoraConfig} in which every default is filled in. */
export interface ResolvedLoraConfig extends LoraConfig {
  readonly trainUnembed: boolean;
  readonly trainMlp: boolean;
  readonly trainAttn: boolean;
}

/** The rank that is used when none is given. */
export const DEFAULT_LORA_RANK = 32;

/** Fills in the defaults: rank 32, everything trained. */
export function resolveLoraConfig(config: Partial<LoraConfig> = {}): ResolvedLoraConfig {
  const { rank = DEFAULT_LORA_RANK, seed, trainUnembed = true, trainMlp = true, trainAttn = true } = config;
  return { rank, seed, trainUnembed, trainMlp, trainAttn };
}

const on = () => optional(flag(), { fallback: () => true });

const loraConfigType = requestType<LoraConfig>(
  { rank: integer({ min: 1 }), seed: optional(integer64()), trainUnembed: on(), trainMlp: on(), trainAttn: on() },
  {
    check: ({ trainUnembed = true, trainMlp = true, trainAttn = true }) =>
      trainUnembed || trainMlp || trainAttn
        ? undefined
        : { field: 'trainMlp', message: 'must be true unless trainAttn or trainUnembed is: otherwise nothing is trained' },
  },
);

/** {@link LoraConfig} on the wire. */
export const loraConfig = codecOf<LoraConfig>('LoraConfig', loraConfigType, { direction: 'request', isLenient: false });

/** Creates a model to train. Answered by a future of a {@link CreateModelResponse}. */
export interface CreateModelRequest {
  readonly sessionId: string;
  /** Counts the models of a session, from 0. */
  readonly modelSeqId: number;
  readonly baseModel: string;
  readonly userMetadata?: JsonObject | undefined;
  readonly loraConfig?: LoraConfig | undefined;
  /** Unset: AdamW. */
  readonly optimizerConfig?: OptimizerConfig | undefined;
}

/** {@link CreateModelRequest} on the wire. */
export const createModelRequest = requestObject<CreateModelRequest>(
  'CreateModelRequest',
  {
    sessionId: text(),
    modelSeqId: integer({ min: 0 }),
    baseModel: text({ isNonEmpty: true }),
    userMetadata: optional(jsonObject()),
    loraConfig: optional(loraConfigType),
    optimizerConfig: optional(optimizerConfig({ isResponse: false })),
  },
  { tag: 'create_model' },
);

/** The model that was created. */
export interface CreateModelResponse {
  readonly modelId: string;
}

/** {@link CreateModelResponse} on the wire. */
export const createModelResponse = responseObject<CreateModelResponse>('CreateModelResponse', { modelId: text() }, { tag: 'create_model' });

/** Requests information about a model. */
export interface GetInfoRequest {
  readonly modelId: string;
}

/** {@link GetInfoRequest} on the wire. */
export const getInfoRequest = requestObject<GetInfoRequest>('GetInfoRequest', { modelId: text() }, { tag: 'get_info' });

/** The parts of a model. */
export interface ModelData {
  readonly arch?: string | undefined;
  readonly modelName?: string | undefined;
  /** The Hugging Face id of its tokenizer, possibly with a revision after a colon. */
  readonly tokenizerId?: string | undefined;
}

/** What is known about a model. */
export interface GetInfoResponse {
  readonly modelId: string;
  readonly modelData: ModelData;
  readonly isLora?: boolean | undefined;
  readonly loraRank?: number | undefined;
  readonly modelName?: string | undefined;
  /** AdamW where the server does not say. */
  readonly optimizerConfig: OptimizerConfig;
}

/** {@link GetInfoResponse} on the wire. */
export const getInfoResponse = responseObject<GetInfoResponse>(
  'GetInfoResponse',
  {
    modelId: text(),
    modelData: responseType<ModelData>({ arch: optional(text()), modelName: optional(text()), tokenizerId: optional(text()) }),
    isLora: optional(flag()),
    loraRank: optional(integer()),
    modelName: optional(text()),
    optimizerConfig: filled(optimizerConfig({ isResponse: true }), () => DEFAULT_OPTIMIZER, { allowsNull: false }),
  },
  { tag: 'get_info' },
);

/** Unloads a model and ends it. Answered by a future of an {@link UnloadModelResponse}. */
export interface UnloadModelRequest {
  readonly modelId: string;
}

/** {@link UnloadModelRequest} on the wire. */
export const unloadModelRequest = requestObject<UnloadModelRequest>('UnloadModelRequest', { modelId: text() }, { tag: 'unload_model' });

/** The model that was unloaded. */
export interface UnloadModelResponse {
  readonly modelId: string;
}

/** {@link UnloadModelResponse} on the wire. */
export const unloadModelResponse = responseObject<UnloadModelResponse>('UnloadModelResponse', { modelId: text() }, { tag: 'unload_model' });
