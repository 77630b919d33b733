import { invalidRequest } from '../errors/validation-error.js';
import type { ModelInputChunk } from '../model-input/chunks.js';
import { viewBytes } from '../tensor/byte-views.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import type { ForwardBackwardRequest } from '../training/forward-backward.js';
import { lossInputWireName } from '../training/loss-fn-inputs.js';
import { checkForwardBackwardRequest } from './forward-backward-request-checks.js';
import { DType } from './gen/tinker_public_pb.js';
import { LossConfigWriter } from './loss-config-writer.js';
import { spansSize, writeSpans } from './provenance-writer.js';
import { type AllocateBytes, delimitedSize, packedLength, SizedWriter, TextBytes, varintSize } from './writer.js';

/** The protobuf form of a request. Every number is copied once, into a buffer of exactly the right size. */
export function writeForwardBackwardRequest(request: ForwardBackwardRequest, allocate?: AllocateBytes): Uint8Array {
  checkForwardBackwardRequest(request);
  const text = new TextBytes();
  const modelId = text.of(request.modelId);
  const lossFn = text.of(request.lossFn);
  const config = new LossConfigWriter(request.lossFnConfig ?? {}, text);
  const lengths = new Lengths();

  let size = modelId.length > 0 ? delimitedSize(modelId.length) : 0;
  if (request.seqId !== undefined) size += 1 + varintSize(request.seqId);
  for (const datum of request.data) size += delimitedSize(measureDatum(datum, text, lengths));
  size += delimitedSize(lossFn.length) + config.size;
  if (request.forwardOnly === true) size += 2;

  const writer = new SizedWriter(size, allocate);
  if (modelId.length > 0) writer.bytes(1, modelId);
  if (request.seqId !== undefined) writer.varint(2, request.seqId);
  for (const datum of request.data) {
    writer.begin(3, lengths.next());
    writeDatum(writer, datum, text, lengths);
  }
  writer.bytes(4, lossFn);
  config.writeNumbers(writer, 5);
  if (request.forwardOnly === true) writer.varint(6, 1);
  config.writeAll(writer, 7);
  return writer.finish();
}

/** The lengths of nested messages, in the order in which they are written: each comes before its content, and is needed to size what holds it. */
class Lengths {
  readonly #values: number[] = [];
  #read = 0;

  /** Adds a length and returns its index, for a length that is known only later. */
  add(length: number): number {
    return this.#values.push(length) - 1;
  }

  set(place: number, length: number): void {
    this.#values[place] = length;
  }

  next(): number {
    const length = this.#values[this.#read] as number;
    this.#read += 1;
    return length;
  }
}

/**
 * Adds the length of the datum, of each chunk's content, and of each tensor. Loops by index here and below: the iterator of a frozen list makes an
 * object for every step, and there are thousands of data.
 */
function measureDatum({ modelInput, lossFnInputs, provenance }: Datum, text: TextBytes, lengths: Lengths): number {
  const place = lengths.add(0);
  let size = 0;
  const { chunks } = modelInput;
  for (let index = 0; index < chunks.length; index += 1) {
    const content = chunkContentSize(chunks[index] as ModelInputChunk);
    lengths.add(content);
    size += delimitedSize(delimitedSize(content));
  }
  const names = Object.keys(lossFnInputs ?? {});
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const tensor = lossFnInputs[name];
    if (tensor === undefined) continue;
    const length = tensorSize(tensor);
    lengths.add(length);
    size += delimitedSize(entrySize(text.of(lossInputWireName(name)), length));
  }
  if (provenance !== undefined) size += spansSize(provenance.modelInput, text) + spansSize(provenance.targetTokens, text);
  lengths.set(place, size);
  return size;
}

function entrySize(name: Uint8Array, tensorLength: number): number {
  return delimitedSize(name.length) + delimitedSize(tensorLength);
}

function writeDatum(writer: SizedWriter, { modelInput, lossFnInputs, provenance }: Datum, text: TextBytes, lengths: Lengths): void {
  const { chunks } = modelInput;
  for (let index = 0; index < chunks.length; index += 1) {
    const content = lengths.next();
    writer.begin(1, delimitedSize(content));
    writeChunk(writer, chunks[index] as ModelInputChunk, content);
  }
  const keys = Object.keys(lossFnInputs ?? {});
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    const tensor = lossFnInputs[key];
    if (tensor === undefined) continue;
    const name = text.of(lossInputWireName(key));
    const length = lengths.next();
    writer.begin(2, entrySize(name, length));
    writer.bytes(1, name);
    writer.begin(2, length);
    writeTensor(writer, tensor);
  }
  if (provenance === undefined) return;
  writeSpans(writer, 3, provenance.modelInput, text);
  writeSpans(writer, 4, provenance.targetTokens, text);
}

/** A field of bytes that is not written when it is empty. */
function plainSize(length: number): number {
  return length === 0 ? 0 : delimitedSize(length);
}

function writePlain(writer: SizedWriter, field: number, bytes: Uint8Array): void {
  if (bytes.length > 0) writer.bytes(field, bytes);
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

function writeChunk(writer: SizedWriter, chunk: ModelInputChunk, size: number): void {
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
  writer.varint(3, tensor.dtype === 'float32' ? DType.DTYPE_FLOAT32 : DType.DTYPE_INT64);
  if (tensor.shape !== undefined && tensor.shape.length > 0) writer.packed(4, tensor.shape);
}
