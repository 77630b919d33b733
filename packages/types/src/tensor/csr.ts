import { invalidRequest } from '../errors/validation-error.js';
import type { Int64Array } from './numbers.js';
import type { TensorFields } from './tensor-data.js';

/** A sparse tensor that claims to be larger than this is not expanded: its shape may be false. 2^28 values are 1 GiB of floats. */
export const MAX_EXPANDED_VALUES: number = 2 ** 28;

/** The compressed form of a dense two-dimensional tensor without its `padValue`s, or undefined when it would not be smaller. */
export function compress({ data, dtype, shape }: TensorFields, padValue: number): TensorFields | undefined {
  if (shape?.length !== 2) return undefined;
  const [rows, columns] = shape as [number, number];
  const pad = data instanceof BigInt64Array ? BigInt(padValue) : padValue;
  let stored = 0;
  for (let index = 0; index < data.length; index += 1) if (data[index] !== pad) stored += 1;
  if (rows + 1 + 2 * stored >= rows * columns) return undefined;

  const values = data instanceof Float32Array ? new Float32Array(stored) : new BigInt64Array(stored);
  const sparseCrowIndices = new BigInt64Array(rows + 1);
  const sparseColIndices = new BigInt64Array(stored);
  let next = 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = data[row * columns + column] as number | bigint;
      if (value === pad) continue;
      values[next] = value;
      sparseColIndices[next] = BigInt(column);
      next += 1;
    }
    sparseCrowIndices[row + 1] = BigInt(next);
  }
  return { data: values, dtype, shape, sparseCrowIndices, sparseColIndices };
}

/** The dense form of a sparse tensor whose parts fit each other; `padValue` stands where nothing is stored. */
export function expand(tensor: TensorFields, padValue: number): TensorFields {
  const { data, dtype, shape } = tensor;
  const [rows, columns] = shape as [number, number];
  if (rows * columns > MAX_EXPANDED_VALUES) {
    throw invalidRequest('TensorData', 'shape', `[${rows}, ${columns}] is too large to expand; read the sparse parts instead`);
  }
  const starts = tensor.sparseCrowIndices as Int64Array;
  const columnOf = tensor.sparseColIndices as Int64Array;
  const values =
    data instanceof Float32Array
      ? new Float32Array(rows * columns).fill(padValue)
      : new BigInt64Array(rows * columns).fill(BigInt(padValue));
  for (let row = 0; row < rows; row += 1) {
    for (let index = Number(starts[row]); index < Number(starts[row + 1]); index += 1) {
      values[row * columns + Number(columnOf[index])] = data[index] as number | bigint;
    }
  }
  return { data: values, dtype, shape };
}
