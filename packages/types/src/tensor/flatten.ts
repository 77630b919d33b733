import { invalidRequest } from '../errors/validation-error.js';
import { firstNonNumber } from './numbers.js';

/** Numbers nested to any depth; rectangular. */
export type NestedNumbers = readonly (number | bigint | boolean | NestedNumbers)[];

/** Numbers as {@link TensorData.toArray} gives them: bigints only where a number would not be exact. */
export type NumberArray = (number | bigint | NumberArray)[];

/** The same in JSON, which has no bigint: text where a number would not be exact. */
export type PlainNumbers = (number | string | PlainNumbers)[];

/** Row-major content and shape of a nested array. */
export interface Flattened {
  readonly values: readonly (number | bigint)[];
  readonly shape: readonly number[];
  readonly hasBigints: boolean;
}

const MAX_DIMENSIONS = 32;
const MAX_EMPTY_ROWS = 2 ** 20;

/**
 * Flattens a nested array, row by row. Throws a `ValidationError` if it is ragged, nests too deeply, or holds something that is
 * not a number.
 */
export function flatten(nested: NestedNumbers, path: string): Flattened {
  // The usual list of tokens or weights is flat already.
  if (firstNonNumber(nested) < 0) return { values: nested as readonly number[], shape: [nested.length], hasBigints: false };
  const shape: number[] = [];
  for (let level: unknown = nested; Array.isArray(level); level = level[0]) {
    shape.push(level.length);
    if (shape.length > MAX_DIMENSIONS) throw invalidRequest('TensorData', path, `nests deeper than ${MAX_DIMENSIONS} dimensions`);
    if (level.length === 0) break;
  }
  const values: (number | bigint)[] = [];
  collect(nested, 0, shape, values, path);
  return { values, shape, hasBigints: firstNonNumber(values) >= 0 };
}

function collect(level: NestedNumbers, depth: number, shape: readonly number[], values: (number | bigint)[], path: string): void {
  if (level.length !== shape[depth]) {
    throw invalidRequest(
      'TensorData',
      path,
      `is ragged: a row has ${level.length} entries where ${shape[depth]} are expected; make all rows equally long`,
    );
  }
  const isLast = depth === shape.length - 1;
  for (let index = 0; index < level.length; index += 1) {
    const entry: unknown = level[index];
    if (isLast && (typeof entry === 'number' || typeof entry === 'bigint')) values.push(entry);
    else if (isLast && typeof entry === 'boolean') values.push(entry ? 1 : 0);
    else if (!isLast && Array.isArray(entry)) collect(entry as NestedNumbers, depth + 1, shape, values, `${path}[${index}]`);
    else throw invalidRequest('TensorData', `${path}[${index}]`, misplaced(entry, isLast));
  }
}

function misplaced(entry: unknown, isLast: boolean): string {
  if (!isLast) return 'is ragged: there is a number where an array is expected';
  if (Array.isArray(entry)) return 'is ragged: there is an array where a number is expected';
  return `must be a number, not ${entry === null ? 'null' : typeof entry}`;
}

/** Nests flat values by a shape. The caller has checked that the shape fits. */
export function nest(values: readonly (number | bigint)[], shape: readonly number[]): NumberArray {
  if (shape.length <= 1) return values.slice();
  let level: NumberArray = values.slice();
  for (let axis = shape.length - 1; axis > 0; axis -= 1) {
    const size = shape[axis] as number;
    const count = shape.slice(0, axis).reduce((product, length) => product * length, 1);
    // A shape such as [2^50, 0] fits no values at all and would still ask for 2^50 empty rows.
    if (count > Math.max(values.length, MAX_EMPTY_ROWS))
      throw invalidRequest('TensorData', 'shape', `[${shape.join(', ')}] has too many rows for arrays`);
    const rows: NumberArray = [];
    for (let row = 0; row < count; row += 1) rows.push(level.slice(row * size, (row + 1) * size));
    level = rows;
  }
  return level;
}
