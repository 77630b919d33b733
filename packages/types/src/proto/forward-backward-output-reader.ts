import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { invalidResponse } from '../errors/invalid.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from '../wire/training.js';
import { BatchedItems, type BatchedTensorParts } from './batched-items.js';
import { BYTES, FIXED64, nestedEnd, readEntry, readerOf, readInt64s, readMessage, VARINT } from './reader.js';

/** Records without fields yield empty maps; a count that lies must not fill the memory. */
const MAX_EMPTY_OUTPUTS = 1_000_000;

/** The output that protobuf bytes hold. Numbers are views on the bytes where those are aligned, or on one copy. */
export function readForwardBackwardOutput(bytes: Uint8Array): ForwardBackwardOutput {
  const reader = readerOf(bytes);
  let typeName = '';
  const records: ArrayRecord[] = [];
  const metrics = new Map<string, number>();
  readMessage(reader, reader.len, (field, layout, end) => {
    if (layout !== BYTES) return false;
    if (field === 1) typeName = reader.string(true);
    else if (field === 2) records.push(readRecord(reader, nestedEnd(reader, end)));
    else if (field === 3) {
      let value = 0;
      const name = readEntry(reader, nestedEnd(reader, end), (inner) => {
        if (inner !== FIXED64) return false;
        value = reader.double();
        return true;
      });
      metrics.set(name, value);
    } else return false;
    return true;
  });
  if (records.length === 0) return { lossFnOutputType: typeName || 'ArrayRecord', lossFnOutputs: [], metrics: Object.fromEntries(metrics) };
  const lossFnOutputType = typeName.slice(typeName.lastIndexOf(':') + 1);
  return { lossFnOutputType, lossFnOutputs: unbatch(records), metrics: Object.fromEntries(metrics) };
}

interface ArrayRecord {
  readonly fields: ReadonlyMap<string, BatchedTensorParts>;
  readonly count: bigint;
}

function readRecord(reader: BinaryReader, end: number): ArrayRecord {
  const fields = new Map<string, BatchedTensorParts>();
  let count = 0n;
  readMessage(reader, end, (field, layout, inner) => {
    if (field === 2 && layout === BYTES) {
      const tensor: BatchedTensorParts = { data: new Uint8Array(0), offsets: new Uint8Array(0), dtype: 0, trailingShape: [] };
      const name = readEntry(reader, nestedEnd(reader, inner), (valueLayout, entryEnd) => {
        if (valueLayout !== BYTES) return false;
        readBatched(reader, nestedEnd(reader, entryEnd), tensor);
        return true;
      });
      fields.set(name, tensor);
    } else if (field === 3 && layout === VARINT) count = BigInt(reader.int64());
    else return false;
    return true;
  });
  return { fields, count };
}

function readBatched(reader: BinaryReader, end: number, into: BatchedTensorParts): void {
  readMessage(reader, end, (field, layout, inner) => {
    if (field === 1 && layout === BYTES) into.data = reader.bytes();
    else if (field === 2 && layout === BYTES) into.offsets = reader.bytes();
    else if (field === 3 && layout === VARINT) into.dtype = reader.int32();
    else if (field === 4) return readInt64s(reader, layout, inner, into.trailingShape);
    else return false;
    return true;
  });
}

/** Splits the batches: the items of a field, over all records in order, belong to the data in order. */
function unbatch(records: readonly ArrayRecord[]): Record<string, TensorData>[] {
  const columns = new Map<string, BatchedItems[]>();
  for (const record of records) {
    for (const [name, parts] of record.fields) {
      const batches = columns.get(name) ?? [];
      batches.push(new BatchedItems(name, parts));
      columns.set(name, batches);
    }
  }
  const declared = records.reduce((sum, record) => sum + record.count, 0n);
  const [first] = columns.values();
  const count = declared === 0n && first !== undefined ? BigInt(itemCount(first)) : declared;
  if (columns.size === 0) {
    if (count > MAX_EMPTY_OUTPUTS)
      throw invalidResponse('ForwardBackwardOutput', 'loss_fn_outputs', `claims ${count} data without any tensor`);
    return Array.from({ length: Math.max(0, Number(count)) }, () => ({}));
  }
  for (const [name, batches] of columns) {
    if (BigInt(itemCount(batches)) < count) {
      throw invalidResponse('ForwardBackwardOutput', 'loss_fn_outputs', `has ${itemCount(batches)} tensors '${name}' for ${count} data`);
    }
  }
  const outputs: Record<string, TensorData>[] = Array.from({ length: Math.max(0, Number(count)) }, () => ({}));
  for (const [name, batches] of columns) {
    let index = 0;
    for (const batch of batches) {
      for (let item = 0; item < batch.count && index < outputs.length; item += 1, index += 1) {
        setOwn(outputs[index] as Record<string, TensorData>, name, batch.at(item));
      }
    }
  }
  return outputs;
}

/** Assigning to `__proto__` would change the prototype instead of making a key. */
function setOwn(output: Record<string, TensorData>, name: string, tensor: TensorData): void {
  if (name === '__proto__') Object.defineProperty(output, name, { value: tensor, enumerable: true, configurable: true, writable: true });
  else output[name] = tensor;
}

function itemCount(batches: readonly BatchedItems[]): number {
  return batches.reduce((sum, batch) => sum + batch.count, 0);
}
