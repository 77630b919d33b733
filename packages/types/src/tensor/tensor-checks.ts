import { invalidRequest } from '../errors/validation-error.js';
import type { TensorFields } from './tensor-data.js';

/** Throws a `ValidationError` when the parts of a tensor contradict each other. Allocates nothing, whatever the shape claims. */
export function checkTensor(tensor: TensorFields): void {
  const problem = contentProblem(tensor) ?? shapeProblem(tensor.shape) ?? (isSparse(tensor) ? sparseProblem(tensor) : denseProblem(tensor));
  if (problem !== undefined) throw invalidRequest('TensorData', problem.path, problem.message);
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

function isSparse(tensor: TensorFields): boolean {
  return tensor.sparseCrowIndices !== undefined || tensor.sparseColIndices !== undefined;
}

function contentProblem({ data, dtype }: TensorFields): Problem | undefined {
  if (dtype === 'float32')
    return data instanceof Float32Array ? undefined : { path: 'data', message: 'must be a Float32Array for dtype float32' };
  if (dtype === 'int64')
    return data instanceof BigInt64Array ? undefined : { path: 'data', message: 'must be a BigInt64Array for dtype int64' };
  return { path: 'dtype', message: `must be 'float32' or 'int64', got ${String(dtype)}` };
}

function shapeProblem(shape: readonly number[] | undefined): Problem | undefined {
  if (shape === undefined) return undefined;
  for (let axis = 0; axis < shape.length; axis += 1) {
    const length = shape[axis] as number;
    if (!Number.isSafeInteger(length) || length < 0)
      return { path: `shape[${axis}]`, message: `must be a whole number from 0, got ${String(length)}` };
  }
  return undefined;
}

function denseProblem({ data, shape }: TensorFields): Problem | undefined {
  if (shape === undefined) return undefined;
  let size = 1;
  for (const length of shape) size *= length;
  if (size === data.length) return undefined;
  return { path: 'shape', message: `[${shape.join(', ')}] needs ${size} values, but data holds ${data.length}` };
}

function sparseProblem({ data, shape, sparseCrowIndices: rows, sparseColIndices: columns }: TensorFields): Problem | undefined {
  if (!(rows instanceof BigInt64Array)) return { path: 'sparseCrowIndices', message: 'is required as a BigInt64Array for a sparse tensor' };
  if (!(columns instanceof BigInt64Array))
    return { path: 'sparseColIndices', message: 'is required as a BigInt64Array for a sparse tensor' };
  if (shape === undefined || shape.length !== 2)
    return { path: 'shape', message: 'must be the two-dimensional dense shape of a sparse tensor' };
  const [rowCount, columnCount] = shape as [number, number];
  if (rows.length !== rowCount + 1) {
    return { path: 'sparseCrowIndices', message: `must have ${rowCount + 1} entries (rows + 1), got ${rows.length}` };
  }
  if (columns.length !== data.length) {
    return { path: 'sparseColIndices', message: `must have one entry per stored value (${data.length}), got ${columns.length}` };
  }
  return rowProblem(rows, data.length) ?? columnProblem(columns, columnCount);
}

function rowProblem(rows: BigInt64Array, stored: number): Problem | undefined {
  if (rows[0] !== 0n) return { path: 'sparseCrowIndices[0]', message: 'must be 0' };
  for (let row = 1; row < rows.length; row += 1) {
    if ((rows[row] as bigint) < (rows[row - 1] as bigint))
      return { path: `sparseCrowIndices[${row}]`, message: 'must not be smaller than the one before' };
  }
  const end = rows[rows.length - 1];
  return end === BigInt(stored)
    ? undefined
    : { path: 'sparseCrowIndices', message: `must end with the number of stored values (${stored}), got ${end}` };
}

function columnProblem(columns: BigInt64Array, columnCount: number): Problem | undefined {
  const limit = BigInt(columnCount);
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index] as bigint;
    if (column < 0n || column >= limit)
      return { path: `sparseColIndices[${index}]`, message: `must be from 0 to ${columnCount - 1}, got ${column}` };
  }
  return undefined;
}
