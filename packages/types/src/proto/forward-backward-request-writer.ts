import { invalidRequest } from '../errors/invalid.js';
import type { ModelInputChunk } from '../model-input/chunks.js';
import { viewBytes } from '../tensor/byte-views.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import { lossInputWireName } from '../wire/loss-input-names.js';
import type { ForwardBackwardRequest } from '../wire/training.js';
import { DTYPE_FLOAT32, DTYPE_INT64 } from './dtypes.js';
import { checkRequest } from './forward-backward-request-checks.js';
import { delimitedSize, doubleMapSize, packedLength, SizedWriter, TextBytes, varintSize, writeDoubleMap } from './writer.js';

/** The protobuf form of a request. Every number is copied once, into a buffer of exactly the right size. */
export function writeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array {
  checkRequest(request);
  const text = new TextBytes();
  const modelId = text.of(request.modelId);
  const lossFn = text.of(request.lossFn);
  const config = request.lossFnConfig ?? {};
  const sizes = request.data.map((datum) => datumSize(datum, text));

  let size = modelId.length > 0 ? delimitedSize(modelId.length) : 0;
  if (request.seqId !== undefined) size += 1 + varintSize(request.seqId);
  for (const datum of sizes) size += delimitedSize(datum);
  size += delimitedSize(lossFn.length) + doubleMapSize(config, text);
  if (request.forwardOnly === true) size += 2;

  const writer = new SizedWriter(size);
  if (modelId.length > 0) writer.bytes(1, modelId);
  if (request.seqId !== undefined) writer.varint(2, request.seqId);
  request.data.forEach((datum, index) => {
    writer.begin(3, sizes[index] as number);
    writeDatum(writer, datum, text);
  });
  writer.bytes(4, lossFn);
  writeDoubleMap(writer, 5, config, text);
  if (request.forwardOnly === true) writer.varint(6, 1);
  return writer.finish();
}

function datumSize(datum: Datum, text: TextBytes): number {
  let size = 0;
  for (const chunk of datum.modelInput.chunks) size += delimitedSize(chunkSize(chunk));
  for (const [name, tensor] of Object.entries(datum.lossFnInputs)) size += delimitedSize(entrySize(name, tensor, text));
  return size;
}

function entrySize(name: string, tensor: TensorData, text: TextBytes): number {
  return delimitedSize(text.of(lossInputWireName(name)).length) + delimitedSize(tensorSize(tensor));
}

function writeDatum(writer: SizedWriter, datum: Datum, text: TextBytes): void {
  for (const chunk of datum.modelInput.chunks) {
    writer.begin(1, chunkSize(chunk));
    writeChunk(writer, chunk);
  }
  for (const [name, tensor] of Object.entries(datum.lossFnInputs)) {
    writer.begin(2, entrySize(name, tensor, text));
    writer.bytes(1, text.of(lossInputWireName(name)));
    writer.begin(2, tensorSize(tensor));
    writeTensor(writer, tensor);
  }
}

/** A field of bytes that is not written when it is empty. */
function plainSize(length: number): number {
  return length === 0 ? 0 : delimitedSize(length);
}

function writePlain(writer: SizedWriter, field: number, bytes: Uint8Array): void {
  if (bytes.length > 0) writer.bytes(field, bytes);
}

function chunkSize(chunk: ModelInputChunk): number {
  return delimitedSize(chunkContentSize(chunk));
}

function chunkContentSize(chunk: ModelInputChunk): number {
  switch (chunk.type) {
    case 'encoded_text':
      return plainSize(chunk.tokens.byteLength);
    case 'image':
      return (
        plainSize(chunk.data.length) +
        delimitedSize(chunk.format.length) +
        (chunk.expectedTokens === undefined ? 0 : 1 + varintSize(chunk.expectedTokens))
      );
    case 'dmel':
      return plainSize(chunk.dmel.length);
    case 'image_asset_pointer':
      throw invalidRequest(
        'ForwardBackwardRequest',
        'modelInput',
        'must not hold an image_asset_pointer: training needs the bytes of the image',
      );
  }
}

const FORMATS = { png: Uint8Array.of(0x70, 0x6e, 0x67), jpeg: Uint8Array.of(0x6a, 0x70, 0x65, 0x67) } as const;

function writeChunk(writer: SizedWriter, chunk: ModelInputChunk): void {
  const size = chunkContentSize(chunk);
  switch (chunk.type) {
    case 'encoded_text':
      writer.begin(1, size);
      writePlain(writer, 1, viewBytes(chunk.tokens));
      break;
    case 'image':
      writer.begin(2, size);
      writePlain(writer, 1, chunk.data);
      writer.bytes(2, FORMATS[chunk.format]);
      if (chunk.expectedTokens !== undefined) writer.varint(3, chunk.expectedTokens);
      break;
    case 'dmel':
      writer.begin(3, size);
      writePlain(writer, 1, chunk.dmel);
      break;
    default:
      break;
  }
}

function sparseSize({ data, sparseCrowIndices: rows, sparseColIndices: columns }: TensorData): number {
  return plainSize(data.byteLength) + plainSize(rows?.byteLength ?? 0) + plainSize(columns?.byteLength ?? 0);
}

function tensorSize(tensor: TensorData): number {
  const content = tensor.isSparse ? sparseSize(tensor) : tensor.data.byteLength;
  const shape = tensor.shape ?? [];
  return delimitedSize(content) + 2 + (shape.length === 0 ? 0 : delimitedSize(packedLength(shape)));
}

function writeTensor(writer: SizedWriter, tensor: TensorData): void {
  if (tensor.sparseCrowIndices !== undefined && tensor.sparseColIndices !== undefined) {
    writer.begin(2, sparseSize(tensor));
    writePlain(writer, 1, viewBytes(tensor.data));
    writePlain(writer, 2, viewBytes(tensor.sparseCrowIndices));
    writePlain(writer, 3, viewBytes(tensor.sparseColIndices));
  } else writer.bytes(1, viewBytes(tensor.data));
  writer.varint(3, tensor.dtype === 'float32' ? DTYPE_FLOAT32 : DTYPE_INT64);
  if (tensor.shape !== undefined && tensor.shape.length > 0) writer.packed(4, tensor.shape);
}
