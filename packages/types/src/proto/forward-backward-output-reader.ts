import { fromBinary } from '@bufbuild/protobuf';
import { invalidResponse } from '../errors/validation-error.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from '../training/forward-backward.js';
import { BatchedItems } from './batched-items.js';
import { plainBytes } from './bytes.js';
import { type ArrayRecord, ForwardBackwardOutputSchema } from './gen/tinker_public_pb.js';

/** Records without fields give empty maps; a false count must not fill the memory. */
const MAX_EMPTY_OUTPUTS = 1_000_000;

/** The output in a protobuf message. Numbers are views of the bytes where those are aligned, or of one copy. */
export function readForwardBackwardOutput(bytes: Uint8Array): ForwardBackwardOutput {
  const message = fromBinary(ForwardBackwardOutputSchema, plainBytes(bytes), { readUnknownFields: false });
  const { lossFnOutputType: typeName, lossFnOutputs: records, metrics } = message;
  if (records.length === 0) return { lossFnOutputType: typeName || 'ArrayRecord', lossFnOutputs: [], metrics };
  return { lossFnOutputType: typeName.slice(typeName.lastIndexOf(':') + 1), lossFnOutputs: unbatch(records), metrics };
}

/** Splits the batches: the items of a field, over all records in order, belong to the data in order. */
function unbatch(records: readonly ArrayRecord[]): Record<string, TensorData>[] {
  const columns = new Map<string, BatchedItems[]>();
  for (const record of records) {
    for (const [name, tensor] of Object.entries(record.fields)) {
      const batches = columns.get(name) ?? [];
      batches.push(new BatchedItems(name, tensor));
      columns.set(name, batches);
    }
  }
  const outputs = Array.from({ length: countOutputs(records, columns) }, (): Record<string, TensorData> => ({}));
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

function countOutputs(records: readonly ArrayRecord[], columns: ReadonlyMap<string, readonly BatchedItems[]>): number {
  const declared = records.reduce((sum, record) => sum + record.numDatums, 0n);
  const [first] = columns.values();
  if (first === undefined && declared > MAX_EMPTY_OUTPUTS)
    throw invalidResponse('ForwardBackwardOutput', 'loss_fn_outputs', `claims ${declared} data without any tensor`);
  const count = declared === 0n && first !== undefined ? BigInt(itemCount(first)) : declared;
  for (const [name, batches] of columns) {
    if (BigInt(itemCount(batches)) < count)
      throw invalidResponse('ForwardBackwardOutput', 'loss_fn_outputs', `has ${itemCount(batches)} tensors '${name}' for ${count} data`);
  }
  return Math.max(0, Number(count));
}

function itemCount(batches: readonly BatchedItems[]): number {
  return batches.reduce((sum, batch) => sum + batch.count, 0);
}

/** Assigning to `__proto__` would change the prototype instead of making a key. */
function setOwn(output: Record<string, TensorData>, name: string, tensor: TensorData): void {
  if (name === '__proto__') Object.defineProperty(output, name, { value: tensor, enumerable: true, configurable: true, writable: true });
  else output[name] = tensor;
}
