import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32c } from './crc32c.js';
import type { Metrics, MetricsSink } from './metrics-sink.js';

/** Options of {@link tensorboardSink}. */
export interface TensorboardSinkOptions {
  /** The time in milliseconds. Default: the system clock. */
  readonly nowMs?: (() => number) | undefined;
}

/** What the first event of a file says about its format. */
const FILE_VERSION = 'brain.Event:2';
/** What TFRecord adds to a rotated checksum, so that the checksum of data that contains checksums stays useful. */
const CRC_MASK = 0xa282ead8;

/** Writes scalars to an event file in `directory`, which TensorBoard reads: `tensorboard --logdir <directory>`. A resumed run adds a file. */
export function tensorboardSink(directory: string, { nowMs = Date.now }: TensorboardSinkOptions = {}): MetricsSink {
  let file: Promise<FileHandle> | undefined;
  const openFile = async (): Promise<FileHandle> => {
    await mkdir(directory, { recursive: true });
    const seconds = Math.floor(nowMs() / 1_000);
    const handle = await open(join(directory, `events.out.tfevents.${seconds}.${hostname()}.${process.pid}`), 'a');
    await handle.write(frameRecord(encodeVersionEvent(nowMs() / 1_000)));
    return handle;
  };
  return {
    async logMetrics(metrics, step) {
      file ??= openFile();
      await (await file).write(frameRecord(encodeScalarsEvent(metrics, step, nowMs() / 1_000)));
    },
    async close() {
      await (await file)?.close();
    },
  };
}

/** A record of a TFRecord file: its length, the masked checksum of the length, the data, the masked checksum of the data. */
export function frameRecord(data: Uint8Array): Uint8Array {
  const record = Buffer.alloc(data.length + 16);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedCrc(record.subarray(0, 8)), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedCrc(data), data.length + 12);
  return record;
}

/** The event that begins a file. */
export function encodeVersionEvent(wallTimeSeconds: number): Uint8Array {
  return Buffer.concat([double(1, wallTimeSeconds), bytes(3, Buffer.from(FILE_VERSION))]);
}

/** An event with one scalar per metric. */
export function encodeScalarsEvent(metrics: Metrics, step: number, wallTimeSeconds: number): Uint8Array {
  const values = Object.entries(metrics).map(([name, value]) => bytes(1, Buffer.concat([bytes(1, Buffer.from(name)), float(2, value)])));
  return Buffer.concat([double(1, wallTimeSeconds), tag(2, 0), varint(step), bytes(5, Buffer.concat(values))]);
}

function maskedCrc(data: Uint8Array): number {
  const crc = crc32c(data);
  return (((crc >>> 15) | (crc << 17)) + CRC_MASK) >>> 0;
}

// The few parts of protobuf's encoding that events need.

function tag(field: number, wireType: number): Uint8Array {
  return Uint8Array.of((field << 3) | wireType);
}

function varint(value: number): Uint8Array {
  const digits: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    digits.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.from([...digits, rest]);
}

function bytes(field: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([tag(field, 2), varint(content.length), content]);
}

function double(field: number, value: number): Uint8Array {
  const content = Buffer.alloc(8);
  content.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), content]);
}

function float(field: number, value: number): Uint8Array {
  const content = Buffer.alloc(4);
  content.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), content]);
}
