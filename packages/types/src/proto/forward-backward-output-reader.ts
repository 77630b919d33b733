import { fromBinary } from '@bufbuild/protobuf';
import { invalidResponse } from '../errors/validation-error.js';
import { fromInt64Array, type Int64Array } from '../tensor/numbers.js';
import { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from '../training/forward-backward.js';
import { elementSize, elements, plainBytes, widened } from './bytes.js';
import { type ArrayRecord, type BatchedTensor, ForwardBackwardOutputSchema } from './gen/tinker_public_pb.js';

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
  if (first === undefined && declared > MAX_EMPTY_OUTPUTS) return fail('loss_fn_outputs', `claims ${declared} data without any tensor`);
  const count = declared === 0n && first !== undefined ? BigInt(itemCount(first)) : declared;
  for (const [name, batches] of columns) {
    if (BigInt(itemCount(batches)) < count) return fail('loss_fn_outputs', `has ${itemCount(batches)} tensors '${name}' for ${count} data`);
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

/** The tensors of a batch; each is a view on the batch's numbers. */
class BatchedItems {
  /** How many tensors there are. */
  readonly count: number;
  readonly #name: string;
  readonly #values: Float32Array | Int64Array;
  readonly #offsets: readonly (number | bigint)[];
  readonly #elementSize: number;
  readonly #trailingShape: readonly number[];
  readonly #trailingSize: number;

  constructor(name: string, { data, offsets, dtype, trailingShape }: BatchedTensor) {
    this.#name = name;
    this.#elementSize = elementSize(dtype) ?? fail(name, `has the unknown element type ${dtype}`);
    this.#values = widened(dtype, data, name);
    this.#offsets = fromInt64Array(elements(BigInt64Array, offsets, `${name}: offsets`));
    this.count = Math.max(0, this.#offsets.length - 1);
    this.#trailingShape = trailingShape.map((length) =>
      length < 0n ? fail(name, `has the negative dimension ${length}`) : Number(length),
    );
    this.#trailingSize = this.#trailingShape.reduce((product, length) => product * length, 1);
  }

  /** One tensor. Offsets beyond the data are cut to it, offsets inside an element are rounded down. */
  at(index: number): TensorData {
    const values = this.#values.subarray(this.#element(index), this.#element(index + 1));
    const rows = this.#trailingSize === 0 ? 0 : Math.floor(values.length / this.#trailingSize);
    return new TensorData({
      data: values,
      dtype: values instanceof Float32Array ? 'float32' : 'int64',
      shape: [rows, ...this.#trailingShape],
    });
  }

  #element(index: number): number {
    const offset = Number(this.#offsets[index]);
    if (offset < 0) return fail(this.#name, `has the negative offset ${offset}`);
    return Math.min(Math.floor(offset / this.#elementSize), this.#values.length);
  }
}

function fail(name: string, message: string): never {
  throw invalidResponse('ForwardBackwardOutput', name, message);
}
