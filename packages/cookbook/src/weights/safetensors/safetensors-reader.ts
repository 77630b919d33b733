import { type FileHandle, open } from 'node:fs/promises';
import { weightsError } from '../weights-error.js';
import { type TensorInfo, tensorBytes } from './dtype.js';

/** The format's own limit on its header. */
const MAX_HEADER_BYTES = 100_000_000;
const BLOCK_BYTES = 8 * 1024 * 1024;

/** A tensor and where its bytes are. */
export interface StoredTensor extends TensorInfo {
  /** Position of the first byte after the header. */
  readonly begin: number;
  readonly end: number;
}

/** The header of a safetensors file. */
export interface SafetensorsHeader {
  /** In the order of the data. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An open safetensors file. Only its header is in memory; tensors are read on demand. */
export interface SafetensorsReader extends SafetensorsHeader, AsyncDisposable {
  /** The bytes of one tensor, or those between two positions in it. */
  read(name: string, from?: number, to?: number): Promise<Uint8Array>;
  /** The bytes of one tensor, in blocks of 8 MiB. */
  stream(name: string): AsyncIterable<Uint8Array>;
}

/**
 * Opens a safetensors file and checks its header: known types, shapes that fit their bytes, no gap and no overlap.
 *
 * @example
 * await using file = await openSafetensors('adapter/adapter_model.safetensors');
 * for (const { name, dtype, shape } of file.tensors.values()) console.log(name, dtype, shape);
 */
export async function openSafetensors(path: string): Promise<SafetensorsReader> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const headerBytes = headerLength(path, await readBytes(file, path, 0, Math.min(8, size)));
    const dataStart = 8 + headerBytes;
    if (dataStart > size) throw weightsError(path, 'the file ends inside its header.');
    const header = parseSafetensorsHeader(path, await readBytes(file, path, 8, headerBytes), size - dataStart);
    const find = (name: string): StoredTensor => {
      const tensor = header.tensors.get(name);
      if (tensor === undefined) throw weightsError(path, `there is no tensor ${name}.`);
      return tensor;
    };
    return {
      ...header,
      read: async (name, from = 0, to) => {
        const { begin, end } = find(name);
        const last = Math.min(end, begin + (to ?? end - begin));
        return await readBytes(file, path, dataStart + begin + from, Math.max(0, last - begin - from));
      },
      async *stream(name) {
        const { begin, end } = find(name);
        for (let at = begin; at < end; at += BLOCK_BYTES)
          yield await readBytes(file, path, dataStart + at, Math.min(BLOCK_BYTES, end - at));
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The length of the header, from the first eight bytes of a file. */
export function headerLength(path: string, prefix: Uint8Array): number {
  if (prefix.byteLength < 8) throw weightsError(path, 'it is too short for a safetensors file.');
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true));
  if (length <= MAX_HEADER_BYTES) return length;
  throw weightsError(path, 'it is not a safetensors file: its header would be larger than 100 MB.');
}

/**
 * Reads the header of a safetensors file.
 *
 * @param dataBytes - How many bytes follow the header; undefined when that is not known.
 */
export function parseSafetensorsHeader(path: string, bytes: Uint8Array, dataBytes?: number): SafetensorsHeader {
  let raw: unknown;
  try {
    raw = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw weightsError(path, 'it is not a safetensors file: its header is not JSON.', cause);
  }
  const { __metadata__: metadata = {}, ...entries } = raw as Record<string, Record<string, unknown>>;
  const stored = Object.entries(entries).map(([name, entry]) => storedTensor(path, name, entry));
  stored.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let position = 0;
  for (const { name, begin, end } of stored) {
    if (begin !== position) throw weightsError(path, `the data of ${name} does not follow the data before it.`);
    position = end;
  }
  if (dataBytes !== undefined && position !== dataBytes)
    throw weightsError(path, `the header describes ${position} bytes, but the file has ${dataBytes}. It is incomplete or damaged.`);
  return { tensors: new Map(stored.map((tensor) => [tensor.name, tensor])), metadata: metadata as Record<string, string> };
}

function storedTensor(path: string, name: string, { dtype, shape, data_offsets: offsets }: Record<string, unknown>): StoredTensor {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  const isList = (value: unknown): value is number[] => Array.isArray(value) && value.every(isCount);
  if (typeof dtype !== 'string' || !isList(shape) || !isList(offsets) || offsets.length !== 2)
    throw weightsError(path, `the header does not describe ${name}.`);
  const [begin, end] = offsets as [number, number];
  const expected = tensorBytes({ dtype, shape });
  if (expected === undefined) throw weightsError(path, `${name} has the unknown type ${dtype}.`);
  if (end - begin !== expected) throw weightsError(path, `${name} has ${end - begin} bytes, but its shape needs ${expected}.`);
  return { name, dtype, shape, begin, end };
}

async function readBytes(file: FileHandle, path: string, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw weightsError(path, 'the file ends before its data.');
    filled += bytesRead;
  }
  return bytes;
}
