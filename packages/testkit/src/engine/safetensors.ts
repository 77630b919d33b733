import { EngineUserError } from './engine.js';

/** A tensor in a safetensors file. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array;
}

/** The parts of a safetensors file this engine writes and reads. */
export interface TensorFile {
  readonly tensors: readonly NamedTensor[];
  readonly metadata: Readonly<Record<string, string>>;
}

const HEADER_LENGTH_BYTES = 8;
const ALIGNMENT = 8;

/** Writes the safetensors format: header length (8 bytes), JSON header padded with spaces, little-endian data. */
export function encodeSafetensors({ tensors, metadata }: TensorFile): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    header[name] = { dtype: values instanceof Int32Array ? 'I32' : 'F32', shape, data_offsets: [offset, offset + values.byteLength] };
    offset += values.byteLength;
  }
  const json = JSON.stringify(header);
  const headerBytes = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / ALIGNMENT) * ALIGNMENT, ' '));
  const file = new Uint8Array(HEADER_LENGTH_BYTES + headerBytes.length + offset);
  const view = new DataView(file.buffer);
  view.setBigUint64(0, BigInt(headerBytes.length), true);
  file.set(headerBytes, HEADER_LENGTH_BYTES);
  let position = HEADER_LENGTH_BYTES + headerBytes.length;
  for (const { values } of tensors) {
    if (values instanceof Int32Array) {
      for (let index = 0; index < values.length; index++) view.setInt32(position + 4 * index, values[index] as number, true);
    } else {
      for (let index = 0; index < values.length; index++) view.setFloat32(position + 4 * index, values[index] as number, true);
    }
    position += values.byteLength;
  }
  return file;
}

/** Reads a file of float32 and int32 tensors. Throws {@link EngineUserError} when the bytes are not one. */
export function decodeSafetensors(file: Uint8Array): TensorFile {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < HEADER_LENGTH_BYTES) throw malformed('too short');
  const dataStart = HEADER_LENGTH_BYTES + Number(view.getBigUint64(0, true));
  if (dataStart > file.byteLength) throw malformed('the header is longer than the file');
  const { __metadata__: metadata = {}, ...entries } = parseHeader(file.subarray(HEADER_LENGTH_BYTES, dataStart));
  const tensors = Object.entries(entries).map(([name, entry]) => readTensor(view, dataStart, name, entry));
  return { tensors, metadata: Object.fromEntries(Object.entries(metadata as object).map(([key, value]) => [key, String(value)])) };
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw malformed('the header is not JSON', cause);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) throw malformed('the header is not an object');
  return header as Record<string, unknown>;
}

function readTensor(view: DataView, dataStart: number, name: string, entry: unknown): NamedTensor {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
  if ((dtype !== 'F32' && dtype !== 'I32') || !isIntegers(shape) || !isIntegers(offsets))
    throw malformed(`tensor ${name} is not a tensor of float32 or int32`);
  const [begin = 0, end = 0] = offsets;
  const length = shape.reduce((product, size) => product * size, 1);
  if (end - begin !== 4 * length || dataStart + end > view.byteLength) {
    throw malformed(`tensor ${name} has ${end - begin} bytes for ${length} values`);
  }
  const values = dtype === 'I32' ? new Int32Array(length) : new Float32Array(length);
  for (let index = 0; index < length; index++) {
    const at = dataStart + begin + 4 * index;
    values[index] = dtype === 'I32' ? view.getInt32(at, true) : view.getFloat32(at, true);
  }
  return { name, shape, values };
}

function isIntegers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

function malformed(reason: string, cause?: unknown): EngineUserError {
  return new EngineUserError(`Not a readable safetensors file: ${reason}.`, { cause });
}
