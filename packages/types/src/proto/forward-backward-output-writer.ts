import { invalidResponse } from '../errors/invalid.js';
import { viewBytes } from '../tensor/byte-views.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { ForwardBackwardOutput } from '../wire/training.js';
import { DTYPE_FLOAT32, DTYPE_INT64 } from './dtypes.js';
import { delimitedSize, doubleMapSize, packedLength, SizedWriter, TextBytes, varintSize, writeDoubleMap } from './writer.js';

/** The tensors of one name in a run of data, which agree in element type and trailing shape. */
interface Batch {
  readonly name: string;
  readonly tensors: TensorData[];
  readonly dtype: number;
  readonly trailingShape: readonly number[];
}

/** A run of data that travels in one record. */
interface Run {
  readonly batches: readonly Batch[];
  count: number;
}

/**
 * The protobuf form of an output. Data whose tensors agree in element types and trailing shapes share a record; every datum must
 * have tensors of the same names. A tensor without a shape is written as one dimension, a sparse one is expanded.
 */
export function writeForwardBackwardOutput(output: ForwardBackwardOutput): Uint8Array {
  const text = new TextBytes();
  const typeName = text.of(output.lossFnOutputType);
  const runs = toRuns(output.lossFnOutputs);
  const sizes = runs.map((run) => runSize(run, typeName.length, text));
  let size = typeName.length === 0 ? 0 : delimitedSize(typeName.length);
  for (const run of sizes) size += delimitedSize(run);
  size += doubleMapSize(output.metrics, text);

  const writer = new SizedWriter(size);
  if (typeName.length > 0) writer.bytes(1, typeName);
  runs.forEach((run, index) => {
    writer.begin(2, sizes[index] as number);
    if (typeName.length > 0) writer.bytes(1, typeName);
    for (const batch of run.batches) writeBatch(writer, batch, text);
    writer.varint(3, run.count);
  });
  writeDoubleMap(writer, 3, output.metrics, text);
  return writer.finish();
}

function toRuns(outputs: ForwardBackwardOutput['lossFnOutputs']): Run[] {
  const runs: Run[] = [];
  const names = Object.keys(outputs[0] ?? {});
  outputs.forEach((output, index) => {
    const tensors = names.map((name) => {
      const tensor = Object.hasOwn(output, name) ? output[name] : undefined;
      if (tensor === undefined) throw wrong(`lossFnOutputs[${index}]`, `has no '${name}', which other data have`);
      return tensor.toDense();
    });
    if (Object.keys(output).length !== names.length) throw wrong(`lossFnOutputs[${index}]`, 'has tensors that other data do not have');
    const last = runs.at(-1);
    if (last?.batches.every((batch, column) => fits(batch, tensors[column] as TensorData)) === true) {
      for (const [column, batch] of last.batches.entries()) batch.tensors.push(tensors[column] as TensorData);
      last.count += 1;
    } else runs.push({ count: 1, batches: names.map((name, column) => batchOf(name, tensors[column] as TensorData)) });
  });
  return runs;
}

function batchOf(name: string, tensor: TensorData): Batch {
  return { name, tensors: [tensor], dtype: dtypeOf(tensor), trailingShape: (tensor.shape ?? []).slice(1) };
}

function fits({ dtype, trailingShape }: Batch, tensor: TensorData): boolean {
  const shape = tensor.shape ?? [];
  return (
    dtype === dtypeOf(tensor) &&
    trailingShape.length === Math.max(0, shape.length - 1) &&
    trailingShape.every((length, axis) => length === shape[axis + 1])
  );
}

function dtypeOf(tensor: TensorData): number {
  return tensor.dtype === 'float32' ? DTYPE_FLOAT32 : DTYPE_INT64;
}

function dataBytes({ tensors }: Batch): number {
  return tensors.reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
}

function batchSize(batch: Batch): number {
  const data = dataBytes(batch);
  return (
    (data === 0 ? 0 : delimitedSize(data)) +
    delimitedSize((batch.tensors.length + 1) * 8) +
    2 +
    (batch.trailingShape.length === 0 ? 0 : delimitedSize(packedLength(batch.trailingShape)))
  );
}

function entrySize(batch: Batch, text: TextBytes): number {
  return delimitedSize(text.of(batch.name).length) + delimitedSize(batchSize(batch));
}

function runSize(run: Run, typeNameLength: number, text: TextBytes): number {
  const fields = run.batches.reduce((sum, batch) => sum + delimitedSize(entrySize(batch, text)), 0);
  return (typeNameLength === 0 ? 0 : delimitedSize(typeNameLength)) + fields + 1 + varintSize(run.count);
}

function writeBatch(writer: SizedWriter, batch: Batch, text: TextBytes): void {
  writer.begin(2, entrySize(batch, text));
  writer.bytes(1, text.of(batch.name));
  writer.begin(2, batchSize(batch));
  const offsets = new BigInt64Array(batch.tensors.length + 1);
  const size = dataBytes(batch);
  if (size > 0) writer.begin(1, size);
  let end = 0;
  batch.tensors.forEach((tensor, index) => {
    if (tensor.data.byteLength > 0) writer.raw(viewBytes(tensor.data));
    end += tensor.data.byteLength;
    offsets[index + 1] = BigInt(end);
  });
  writer.bytes(2, viewBytes(offsets));
  writer.varint(3, batch.dtype);
  if (batch.trailingShape.length > 0) writer.packed(4, batch.trailingShape);
}

function wrong(path: string, message: string): Error {
  return invalidResponse('ForwardBackwardOutput', path, message);
}
