import { describe } from '../errors/issue-text.js';
import type { ModelInput } from '../model-input/model-input.js';
import type { PromptAltTokens, SampledSequence, SampleResponse } from '../sampling/sample-response.js';
import { type TokenLogprob, TopkLogprobs } from '../sampling/topk-logprobs.js';
import type { TensorData } from '../tensor/tensor-data.js';
import { codecOf } from './codec.js';
import { list } from './collections.js';
import { modelInputType } from './model-input.js';
import { floats, floatsOrNull, tokens } from './number-arrays.js';
import { requestObject, requestType, responseObject, responseType } from './objects.js';
import { flag, integer, integer64, number, oneOf, text } from './scalars.js';
import { checked, passes } from './schema.js';
import { tensor } from './tensor.js';
import { filled, optional, type WireType } from './wire-type.js';

/** Creates a sampling session from a base model, saved weights, or both. */
export interface CreateSamplingSessionRequest {
  readonly sessionId: string;
  /** Counts the sampling sessions of a session, from 0. */
  readonly samplingSessionSeqId: number;
  readonly baseModel?: string | undefined;
  /** A `tinker://` path. */
  readonly modelPath?: string | undefined;
}

/** {@link CreateSamplingSessionRequest} on the wire. */
export const createSamplingSessionRequest = requestObject<CreateSamplingSessionRequest>(
  'CreateSamplingSessionRequest',
  {
    sessionId: text(),
    samplingSessionSeqId: integer({ min: 0 }),
    baseModel: optional(text()),
    modelPath: optional(text({ startsWith: 'tinker://' })),
  },
  {
    tag: 'create_sampling_session',
    check: ({ baseModel, modelPath }) =>
      baseModel === undefined && modelPath === undefined ? { field: 'baseModel', message: 'is required, or modelPath' } : undefined,
  },
);

/** The sampling session. */
export interface CreateSamplingSessionResponse {
  readonly samplingSessionId: string;
}

/** {@link CreateSamplingSessionResponse} on the wire. */
export const createSamplingSessionResponse = responseObject<CreateSamplingSessionResponse>(
  'CreateSamplingSessionResponse',
  { samplingSessionId: text() },
  { tag: 'create_sampling_session' },
);

/** Requests a block of sequence IDs for another holder of a sampling session, such as a worker thread. */
export interface JoinSamplingSessionRequest {
  readonly samplingSessionId: string;
}

/** {@link JoinSamplingSessionRequest} on the wire. */
export const joinSamplingSessionRequest = requestObject<JoinSamplingSessionRequest>(
  'JoinSamplingSessionRequest',
  { samplingSessionId: text() },
  { tag: 'join_sampling_session' },
);

/** The block of sequence IDs of a new holder of a sampling session. */
export interface JoinSamplingSessionResponse {
  /** Unique in the sampling session, and never 0: that is its creator. */
  readonly clientCounter: number;
}

/** {@link JoinSamplingSessionResponse} on the wire. */
export const joinSamplingSessionResponse = responseObject<JoinSamplingSessionResponse>(
  'JoinSamplingSessionResponse',
  { clientCounter: integer() },
  { tag: 'join_sampling_session' },
);

/** How tokens are sampled. */
export interface SamplingParams {
  /** Unset: as many as fit. */
  readonly maxTokens?: number | undefined;
  /** Makes sampling repeatable. Any 64-bit number. */
  readonly seed?: number | bigint | undefined;
  /** Texts or token IDs that end a sequence. Unset: the end of the text ends it. An empty list: nothing does, until `maxTokens`. */
  readonly stop?: string | readonly string[] | readonly number[] | undefined;
  /** 0 always takes the most likely token. Default 1. */
  readonly temperature?: number | undefined;
  /** How many of the most likely tokens are considered; -1: all. Default -1. */
  readonly topK?: number | undefined;
  /** Only the most likely tokens that together have this probability are considered. Default 1. */
  readonly topP?: number | undefined;
}

function isStop(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return Array.isArray(value) && (value.every((entry) => typeof entry === 'string') || value.every((entry) => Number.isSafeInteger(entry)));
}

const stop: WireType<string | readonly string[] | readonly number[]> = {
  schema: () => checked(isStop, ({ input }) => `must be text, a list of texts or a list of token ids, got ${describe(input)}`),
  toWire: (value) => (value instanceof Int32Array ? Array.from(value) : value),
  fromWire: (wire) => wire as string | readonly string[] | readonly number[],
};

const samplingParamsType = requestType<SamplingParams>({
  maxTokens: optional(integer({ min: 0 })),
  seed: optional(integer64()),
  stop: optional(stop),
  temperature: optional(number({ min: 0 }), { fallback: () => 1 }),
  topK: optional(integer({ min: -1 }), { fallback: () => -1 }),
  topP: optional(number({ min: 0, max: 1 }), { fallback: () => 1 }),
});

/** {@link SamplingParams} on the wire. */
export const samplingParams = codecOf<SamplingParams>('SamplingParams', samplingParamsType, {
  direction: 'request',
  isLenient: false,
});

/** Samples from a model. Answered by a future of a {@link SampleResponse}. */
export interface SampleRequest {
  /** Default 1. */
  readonly numSamples?: number | undefined;
  readonly prompt: ModelInput;
  /** Default: all defaults. */
  readonly samplingParams?: SamplingParams | undefined;
  readonly samplingSessionId?: string | undefined;
  /** From 0 up; a bigint beyond 2^53. Together with `samplingSessionId` it identifies the call. */
  readonly seqId?: number | bigint | undefined;
  /** Only without `samplingSessionId`. */
  readonly baseModel?: string | undefined;
  /** Only without `samplingSessionId`. */
  readonly modelPath?: string | undefined;
  /** Whether the log-probabilities of the prompt's tokens are wanted. Default false. */
  readonly promptLogprobs?: boolean | undefined;
  /** How many of the most likely tokens are wanted for each position of the prompt. Default 0. */
  readonly topkPromptLogprobs?: number | undefined;
  /** How many of the most likely tokens are wanted for each sampled token. Left out: 0. */
  readonly topkSampleLogprobs?: number | undefined;
  /** Token IDs to score, `int64`, [prompt tokens - 1, K]: row i belongs to prompt position i + 1; -1 asks for nothing. */
  readonly targetPromptLogprobs?: TensorData | undefined;
  /** How many alternative tokens to draw for each position of the prompt after the first. Left out: 0. */
  readonly promptAltTokensK?: number | undefined;
  /** Scores only the last n tokens of the prompt. Only with `promptLogprobs`. */
  readonly promptLogprobsLastN?: number | undefined;
  /** Whether the server remembers what `stable_reinforce` needs. Left out: false. */
  readonly recordStabilityInfo?: boolean | undefined;
}

/** {@link SampleRequest} on the wire. */
export const sampleRequest = requestObject<SampleRequest>(
  'SampleRequest',
  {
    numSamples: optional(integer({ min: 1 }), { fallback: () => 1 }),
    prompt: modelInputType,
    samplingParams: optional(samplingParamsType, { fallback: () => ({}) }),
    samplingSessionId: optional(text()),
    seqId: optional(integer64({ min: 0n })),
    baseModel: optional(text()),
    modelPath: optional(text()),
    promptLogprobs: optional(flag(), { fallback: () => false }),
    topkPromptLogprobs: optional(integer({ min: 0 }), { fallback: () => 0 }),
    topkSampleLogprobs: optional(integer({ min: 0 })),
    targetPromptLogprobs: optional(tensor({ isResponse: false })),
    promptAltTokensK: optional(integer({ min: 0 })),
    promptLogprobsLastN: optional(integer({ min: 1 })),
    recordStabilityInfo: optional(flag()),
  },
  { tag: 'sample', check: explainInvalidScores },
);

function explainInvalidScores({ targetPromptLogprobs: targets, promptLogprobs, promptLogprobsLastN }: SampleRequest) {
  if (promptLogprobsLastN !== undefined && promptLogprobs !== true) {
    return { field: 'promptLogprobsLastN', message: 'limits the log-probabilities of the prompt: ask for those as well' } as const;
  }
  if (targets === undefined || (targets.dtype === 'int64' && targets.shape?.length === 2)) return undefined;
  const got = `${targets.dtype} [${targets.shape?.join(', ') ?? 'no shape'}]`;
  return { field: 'targetPromptLogprobs', message: `must be int64 with two dimensions, [prompt tokens - 1, K], got ${got}` } as const;
}

const logprobOf = number().schema(true);

function isTopkPosition(value: unknown): boolean {
  if (value === null) return true;
  return (
    Array.isArray(value) &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && isInt32(pair[0]) && passes(logprobOf, pair[1]))
  );
}

function isInt32(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) === ((value as number) | 0);
}

function withNumbers(pairs: [number, unknown][] | null): TokenLogprob[] | null {
  return pairs === null ? null : pairs.map(([token, logprob]): TokenLogprob => [token, logprobOf(logprob, []) as number]);
}

const topk: WireType<TopkLogprobs> = {
  schema: () => (wire, issues) => {
    if (Array.isArray(wire) && wire.every(isTopkPosition)) return wire.map(withNumbers);
    issues.push({ path: [], message: 'must be a list with null or [token, logprob] pairs per position' });
    return wire;
  },
  toWire: (value) => (TopkLogprobs.isInstance(value) ? value.toList() : value),
  fromWire: (wire) => TopkLogprobs.fromList(wire as (TokenLogprob[] | null)[]),
};

const sampledSequenceType = responseType<SampledSequence>(
  {
    tokens: tokens(),
    logprobs: optional(emptyIsMissing(floats())),
    stopReason: oneOf('stop', 'length'),
    sequenceId: optional(text()),
    topkLogprobs: optional(emptyIsMissing(topk)),
  },
  { isPlainJson: true },
);

const promptAltTokensType = responseType<PromptAltTokens>({
  tokens: tensor({ isResponse: true }),
  logprobs: tensor({ isResponse: true }),
});

/** {@link SampleResponse} as JSON. */
export const sampleResponse = responseObject<SampleResponse>(
  'SampleResponse',
  {
    sequences: list(sampledSequenceType),
    promptLogprobs: optional(emptyIsMissing(floatsOrNull())),
    topkPromptLogprobs: optional(emptyIsMissing(topk)),
    targetPromptLogprobs: optional(tensor({ isResponse: true })),
    promptAltTokens: optional(promptAltTokensType),
    promptCacheHitTokens: filled(integer(), () => 0),
  },
  { tag: 'sample', isPlainJson: true },
);

/** In responses an empty list of optional numbers means none: protobuf cannot tell the two apart. */
function emptyIsMissing<T>(type: WireType<T>): WireType<T> {
  return {
    ...type,
    fromWire: (wire) => (hasContent(wire) ? type.fromWire(wire) : (undefined as T)),
  };
}

function hasContent(wire: unknown): boolean {
  if (!Array.isArray(wire)) return (wire as ArrayLike<unknown>).length > 0;
  return wire.some((entry) => !Array.isArray(entry) || entry.length > 0);
}

/** A fixed set of weights to sample from. */
export interface GetSamplerResponse {
  readonly samplerId: string;
  readonly baseModel: string;
  readonly modelPath?: string | undefined;
}

/** {@link GetSamplerResponse} on the wire. */
export const getSamplerResponse = responseObject<GetSamplerResponse>('GetSamplerResponse', {
  samplerId: text(),
  baseModel: text(),
  modelPath: optional(text()),
});
