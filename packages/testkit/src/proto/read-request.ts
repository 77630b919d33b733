import { fromBinary, type Message, type MessageShape } from '@bufbuild/protobuf';
import {
  type Datum,
  datum,
  type ImageFormat,
  type LossFnConfig,
  ModelInput,
  type ModelInputChunk,
  type ProvenanceSpan,
  TensorData,
} from '@tinkex/types';
import {
  type ChunkSchema,
  checkForwardBackwardRequest,
  type DatumSchema,
  DType,
  type ForwardBackwardRequest,
  ForwardBackwardRequestSchema,
  type ProvenanceSpanSchema,
  type TensorSchema,
} from '@tinkex/types/wire';

/** Which operation of which model a submission is. */
export interface SubmissionHead {
  readonly modelId: string;
  readonly seqId: number;
}

/** The request in a protobuf message, held to the rules of the JSON codec. Numbers are copies. */
export function readForwardBackwardRequest(bytes: Uint8Array, onUnknownField: (field: string) => void): ForwardBackwardRequest {
  const message = fromBinary(ForwardBackwardRequestSchema, bytes);
  findUnknownFields(message, onUnknownField);
  const request: ForwardBackwardRequest = {
    modelId: message.modelId,
    seqId: message.seqId || undefined,
    data: message.data.map(readDatum),
    lossFn: message.lossFn,
    lossFnConfig: readLossConfig(message),
    forwardOnly: message.forwardOnly,
  };
  checkForwardBackwardRequest(request);
  return request;
}

/** Visits a message and those inside it. A field is named by its number and its message: `field 9 of Datum`. */
function findUnknownFields(value: unknown, onUnknownField: (field: string) => void): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  const { $typeName, $unknown = [] } = value as Partial<Message>;
  for (const { no } of $unknown) onUnknownField(`field ${no} of ${$typeName?.split('.').at(-1)}`);
  for (const [name, inner] of Object.entries(value)) {
    if (name !== '$unknown') findUnknownFields(inner, onUnknownField);
  }
}

/**
 * The model and the sequence ID of a request, even if the rest of it is invalid: a server must tell operations apart that it refuses.
 * Undefined if the request has none, or is not a message.
 */
export function readSubmissionHead(bytes: Uint8Array): SubmissionHead | undefined {
  try {
    const { modelId, seqId } = fromBinary(ForwardBackwardRequestSchema, bytes, { readUnknownFields: false });
    return modelId === '' || !seqId ? undefined : { modelId, seqId };
  } catch {
    // Cut off, or not protobuf: what was read before the error cannot be trusted.
    return undefined;
  }
}

/** The map of all settings, or the map of numbers from a client that does not know the other. */
function readLossConfig({ lossFnConfig, lossFnConfigV2 }: MessageShape<typeof ForwardBackwardRequestSchema>): LossFnConfig | undefined {
  const settings = Object.entries(lossFnConfigV2).map(([name, { value }]) => {
    if (value.case === undefined) throw new RangeError(`the setting ${name} of the loss function has no value`);
    return [name, value.value] as const;
  });
  const config = settings.length > 0 ? Object.fromEntries(settings) : lossFnConfig;
  return Object.keys(config).length === 0 ? undefined : config;
}

/** Whether the spans cover the datum is the handler's question: a request can be read without that. */
function readDatum({ modelInput, lossFnInputs, modelInputSpans, lossFnInputSpans }: MessageShape<typeof DatumSchema>): Datum {
  const tensors = Object.entries(lossFnInputs).map(([name, tensor]) => [name, readTensor(name, tensor)] as const);
  const read = datum({ modelInput: new ModelInput(modelInput.map(readChunk)), lossFnInputs: Object.fromEntries(tensors) });
  if (modelInputSpans.length === 0 && lossFnInputSpans.length === 0) return read;
  return { ...read, provenance: { modelInput: modelInputSpans.map(readSpan), targetTokens: lossFnInputSpans.map(readSpan) } };
}

function readSpan({ span }: MessageShape<typeof ProvenanceSpanSchema>): ProvenanceSpan {
  if (span.case === undefined) throw new RangeError('a span of a datum has no content');
  const { sequenceId, offset, length } = span.value;
  const kind = span.case === 'promptTokens' ? 'prompt' : 'sampled';
  return { kind, sequenceId, offset: Number(offset), length: Number(length) };
}

function readChunk({ chunk }: MessageShape<typeof ChunkSchema>): ModelInputChunk {
  switch (chunk.case) {
    case 'encodedText':
      return { type: 'encoded_text', tokens: numbers(Int32Array, chunk.value.tokens, 'tokens') };
    case 'image': {
      const { data, format, expectedTokens } = chunk.value;
      return { type: 'image', data: data.slice(), format: format as ImageFormat, expectedTokens };
    }
    case 'dmel':
      return { type: 'dmel', dmel: chunk.value.dmel.slice() };
    default:
      throw new RangeError('a chunk of the model input has an unknown kind');
  }
}

function readTensor(name: string, { encoding, dtype, shape }: MessageShape<typeof TensorSchema>): TensorData {
  if (dtype !== DType.DTYPE_FLOAT32 && dtype !== DType.DTYPE_INT64) {
    throw new RangeError(`tensor ${name} has the unknown element type ${dtype}`);
  }
  if (encoding.case === undefined) throw new RangeError(`tensor ${name} has no content`);
  const isSparse = encoding.case === 'sparseCsr';
  const bytes = isSparse ? encoding.value.values : encoding.value;
  return new TensorData({
    data: dtype === DType.DTYPE_FLOAT32 ? numbers(Float32Array, bytes, name) : numbers(BigInt64Array, bytes, name),
    dtype: dtype === DType.DTYPE_FLOAT32 ? 'float32' : 'int64',
    shape: shape.length === 0 ? undefined : shape.map(Number),
    sparseCrowIndices: isSparse ? numbers(BigInt64Array, encoding.value.crowIndices, `${name}: row pointers`) : undefined,
    sparseColIndices: isSparse ? numbers(BigInt64Array, encoding.value.colIndices, `${name}: column indices`) : undefined,
  });
}

interface NumbersConstructor<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): T;
}

/** A copy of little-endian bytes as numbers. */
function numbers<T>(Numbers: NumbersConstructor<T>, bytes: Uint8Array, what: string): T {
  if (bytes.length % Numbers.BYTES_PER_ELEMENT !== 0) {
    throw new RangeError(`${what} has ${bytes.length} bytes, which is not a whole number of elements`);
  }
  return new Numbers(Uint8Array.from(bytes).buffer);
}
