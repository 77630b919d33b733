import { create, toBinary } from '@bufbuild/protobuf';
import type {
  Datum,
  ForwardBackwardOutput,
  ModelInputChunk,
  ProvenanceSpan,
  SampleResponse,
  TensorData,
  TopkLogprobs,
} from '../src/index.js';
import * as generated from '../src/proto/gen/tinker_public_pb.js';
import type { ForwardBackwardRequest } from '../src/wire.js';

const { ForwardBackwardOutputSchema, ForwardBackwardRequestSchema, SampleResponseSchema, DType, StopReason } = generated;

const raw = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => new Uint8Array(buffer, byteOffset, byteLength);
const dtypeOf = ({ dtype }: TensorData) => (dtype === 'float32' ? DType.DTYPE_FLOAT32 : DType.DTYPE_INT64);
const snakeCase = (name: string) =>
  /^(targetTokens|clip(Low|High)Threshold|sequenceRatioMask)$/.test(name)
    ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : name;

/** A request as the generated code writes it. */
export function requestBytes({
  modelId,
  seqId = 0,
  data,
  lossFn,
  lossFnConfig = {},
  forwardOnly = false,
}: ForwardBackwardRequest): Uint8Array {
  const settings = Object.entries(lossFnConfig).map(([name, value]) => [name, typeof value === 'string' ? value : Number(value)] as const);
  const message = create(ForwardBackwardRequestSchema, {
    modelId,
    seqId,
    data: data.map(datumInit),
    lossFn,
    lossFnConfig: Object.fromEntries(settings.filter((entry): entry is [string, number] => typeof entry[1] === 'number')),
    lossFnConfigV2: Object.fromEntries(settings.map(([name, value]) => [name, settingInit(value)])),
    forwardOnly,
  });
  return toBinary(ForwardBackwardRequestSchema, message);
}

function settingInit(value: number | string) {
  return { value: typeof value === 'string' ? ({ case: 'text', value } as const) : ({ case: 'number', value } as const) };
}

function datumInit({ modelInput, lossFnInputs, provenance }: Datum) {
  const tensors = Object.entries(lossFnInputs).map(([name, tensor]) => [snakeCase(name), tensorInit(tensor as TensorData)] as const);
  return {
    modelInput: modelInput.chunks.map((chunk) => ({ chunk: chunkInit(chunk) })),
    lossFnInputs: Object.fromEntries(tensors),
    modelInputSpans: provenance?.modelInput.map(spanInit) ?? [],
    lossFnInputSpans: provenance?.targetTokens.map(spanInit) ?? [],
  };
}

function spanInit({ kind, sequenceId, offset = 0, length }: ProvenanceSpan) {
  const value = { sequenceId, offset: BigInt(offset), length: BigInt(length) };
  return { span: kind === 'prompt' ? ({ case: 'promptTokens', value } as const) : ({ case: 'sampledTokens', value } as const) };
}

function chunkInit(chunk: ModelInputChunk) {
  if (chunk.type === 'encoded_text') return { case: 'encodedText', value: { tokens: raw(chunk.tokens) } } as const;
  if (chunk.type === 'dmel') return { case: 'dmel', value: { dmel: chunk.dmel } } as const;
  if (chunk.type === 'image')
    return { case: 'image', value: { data: chunk.data, format: chunk.format, expectedTokens: chunk.expectedTokens } } as const;
  throw new Error('an asset pointer has no protobuf form');
}

function tensorInit(tensor: TensorData) {
  const { data, shape = [], sparseCrowIndices: rows, sparseColIndices: columns } = tensor;
  const encoding =
    rows === undefined || columns === undefined
      ? ({ case: 'dense', value: raw(data) } as const)
      : ({ case: 'sparseCsr', value: { values: raw(data), crowIndices: raw(rows), colIndices: raw(columns) } } as const);
  return { encoding, dtype: dtypeOf(tensor), shape: shape.map(BigInt) };
}

/** An output as the generated code writes it, one record per datum. */
export function outputBytes({ lossFnOutputType, lossFnOutputs, metrics }: ForwardBackwardOutput): Uint8Array {
  const records = lossFnOutputs.map((output) => ({
    numDatums: 1n,
    fields: Object.fromEntries(
      Object.entries(output).map(([name, tensor]) => {
        const offsets = raw(BigInt64Array.of(0n, BigInt(tensor.data.byteLength)));
        return [
          name,
          { data: raw(tensor.data), offsets, dtype: dtypeOf(tensor), trailingShape: (tensor.shape ?? []).slice(1).map(BigInt) },
        ];
      }),
    ),
  }));
  return toBinary(ForwardBackwardOutputSchema, create(ForwardBackwardOutputSchema, { lossFnOutputType, lossFnOutputs: records, metrics }));
}

/** Samples as the generated code writes them. */
export function sampleBytes(response: SampleResponse): Uint8Array {
  const { sequences, promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens, promptCacheHitTokens } = response;
  const message = create(SampleResponseSchema, {
    sequences: sequences.map(({ stopReason, tokens, logprobs, topkLogprobs }) => ({
      stopReason: stopReason === 'length' ? StopReason.LENGTH : StopReason.STOP,
      tokens: raw(tokens),
      logprobs: logprobs && raw(logprobs),
      topkSampledLogprobs: topkLogprobs && topkInit(topkLogprobs),
    })),
    promptLogprobs: promptLogprobs && raw(promptLogprobs),
    topkPromptLogprobs: topkPromptLogprobs && topkInit(topkPromptLogprobs),
    targetPromptLogprobs: targetPromptLogprobs && tensorInit(targetPromptLogprobs),
    promptAltTokens: promptAltTokens && {
      tokens: tensorInit(promptAltTokens.tokens),
      logprobs: tensorInit(promptAltTokens.logprobs),
    },
    promptCacheHitTokens,
  });
  return toBinary(SampleResponseSchema, message);
}

function topkInit({ tokenIds, logprobs, k, length }: TopkLogprobs) {
  return { tokenIds: raw(tokenIds), logprobs: raw(logprobs), k, length };
}
