import { create, toBinary } from '@bufbuild/protobuf';
import { type ForwardBackwardOutput, type SampleResponse, type TensorData, type TopkLogprobs, ValidationError } from '@tinkex/types';
import { DType, ForwardBackwardOutputSchema, ProtoStopReason, SampleResponseSchema } from '@tinkex/types/wire';

/** The protobuf form of samples. */
export function writeSampleResponse(response: SampleResponse): Uint8Array {
  const { sequences, promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens, promptCacheHitTokens } = response;
  const message = create(SampleResponseSchema, {
    sequences: sequences.map(({ stopReason, tokens, logprobs, topkLogprobs }) => ({
      stopReason: stopReason === 'length' ? ProtoStopReason.LENGTH : ProtoStopReason.STOP,
      tokens: bytesOf(tokens),
      logprobs: logprobs && bytesOf(logprobs),
      topkSampledLogprobs: topkLogprobs && matrixOf(topkLogprobs),
    })),
    promptLogprobs: promptLogprobs && bytesOf(promptLogprobs),
    topkPromptLogprobs: topkPromptLogprobs && matrixOf(topkPromptLogprobs),
    targetPromptLogprobs: targetPromptLogprobs && tensorOf(targetPromptLogprobs),
    promptAltTokens: promptAltTokens && { tokens: tensorOf(promptAltTokens.tokens), logprobs: tensorOf(promptAltTokens.logprobs) },
    promptCacheHitTokens,
  });
  return toBinary(SampleResponseSchema, message);
}

function matrixOf({ tokenIds, logprobs, k, length }: TopkLogprobs) {
  return { tokenIds: bytesOf(tokenIds), logprobs: bytesOf(logprobs), k, length };
}

/** A sparse tensor stays sparse. */
function tensorOf({ data, dtype, shape, sparseCrowIndices: rows, sparseColIndices: columns }: TensorData) {
  const isDense = rows === undefined || columns === undefined;
  return {
    encoding: isDense
      ? ({ case: 'dense', value: bytesOf(data) } as const)
      : ({ case: 'sparseCsr', value: { values: bytesOf(data), crowIndices: bytesOf(rows), colIndices: bytesOf(columns) } } as const),
    dtype: protoType(dtype),
    shape: (shape ?? [data.length]).map(BigInt),
  };
}

function protoType(dtype: TensorData['dtype'] | undefined): DType {
  return dtype === 'int64' ? DType.DTYPE_INT64 : DType.DTYPE_FLOAT32;
}

/**
 * The protobuf form of an output. Data whose tensors agree in element types and trailing shapes share a record; every datum must have
 * tensors of the same names. A tensor without a shape is written as one dimension, a sparse one is expanded.
 */
export function writeForwardBackwardOutput({ lossFnOutputType, lossFnOutputs, metrics }: ForwardBackwardOutput): Uint8Array {
  const names = Object.keys(lossFnOutputs[0] ?? {});
  const message = create(ForwardBackwardOutputSchema, {
    lossFnOutputType,
    lossFnOutputs: alikeRuns(denseRows(lossFnOutputs, names)).map((rows) => ({
      typeTag: lossFnOutputType,
      fields: Object.fromEntries(names.map((name, column) => [name, batchOf(rows.map((row) => row[column] as TensorData))])),
      numDatums: BigInt(rows.length),
    })),
    metrics,
  });
  return toBinary(ForwardBackwardOutputSchema, message);
}

/** The tensors of each datum, in the order of the names. */
function denseRows(outputs: ForwardBackwardOutput['lossFnOutputs'], names: readonly string[]): TensorData[][] {
  return outputs.map((output, index) => {
    if (Object.keys(output).length !== names.length) throw invalid(index, 'has other tensors than the first datum');
    return names.map((name) => {
      const tensor = Object.hasOwn(output, name) ? output[name] : undefined;
      if (tensor === undefined) throw invalid(index, `has no '${name}', which other data have`);
      return tensor.toDense();
    });
  });
}

/** Neighbors that fit into one record. */
function alikeRuns(rows: readonly TensorData[][]): TensorData[][][] {
  const runs: TensorData[][][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    const isAlike = last?.[0]?.every((tensor, column) => layoutOf(tensor) === layoutOf(row[column] as TensorData)) ?? false;
    if (isAlike) last?.push(row);
    else runs.push([row]);
  }
  return runs;
}

function layoutOf({ dtype, shape = [] }: TensorData): string {
  return `${dtype} ${shape.slice(1).join()}`;
}

function batchOf(tensors: readonly TensorData[]) {
  const data = new Uint8Array(tensors.reduce((sum, tensor) => sum + tensor.data.byteLength, 0));
  const offsets = new BigInt64Array(tensors.length + 1);
  let end = 0;
  tensors.forEach((tensor, index) => {
    data.set(bytesOf(tensor.data), end);
    end += tensor.data.byteLength;
    offsets[index + 1] = BigInt(end);
  });
  const [first] = tensors;
  return {
    data,
    offsets: bytesOf(offsets),
    dtype: protoType(first?.dtype),
    trailingShape: (first?.shape ?? []).slice(1).map(BigInt),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function invalid(index: number, message: string): ValidationError {
  return new ValidationError({
    direction: 'response',
    subject: 'ForwardBackwardOutput',
    issues: [{ path: `lossFnOutputs[${index}]`, message }],
  });
}
