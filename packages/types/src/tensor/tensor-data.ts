import { invalidRequest } from '../errors/validation-error.js';
import { hasKind, markKind } from '../kind.js';
import { showAs } from '../show-as.js';
import { compress, expand } from './csr.js';
import { flatten, type NestedNumbers, type NumberArray, nest, type PlainNumbers } from './flatten.js';
import {
  type AnyTypedArray,
  firstNonInt64,
  fromInt64Array,
  holdsFloats,
  type Int64Array,
  isTypedArray,
  toFloats,
  toInt64Array,
} from './numbers.js';
import { checkTensor } from './tensor-checks.js';

/** The element types of the API. */
export type TensorDtype = 'float32' | 'int64';

/** The parts of a tensor. */
export interface TensorFields {
  /** Row-major content; of a sparse tensor only the stored values. `float32`: Float32Array, `int64`: BigInt64Array. */
  readonly data: Float32Array | Int64Array;
  readonly dtype: TensorDtype;
  /** The dense shape. Unset: unknown (read as one dimension). Required for sparse tensors. */
  readonly shape?: readonly number[] | undefined;
  /** Sparse tensors: where each row starts in `data`, rows + 1 entries. */
  readonly sparseCrowIndices?: Int64Array | undefined;
  /** Sparse tensors: the column of each stored value. */
  readonly sparseColIndices?: Int64Array | undefined;
}

/** Which value a sparse tensor leaves out. */
export interface PadOptions {
  /** A whole number. Default 0; -1 for `targetPromptLogprobs`. */
  readonly padValue?: number | undefined;
}

/**
 * Numbers with an element type and a shape, dense or sparse (compressed sparse rows). Immutable: do not write into its arrays.
 * Typed arrays are taken and handed out without a copy.
 *
 * @example
 * const weights = TensorData.fromArray([[1, 0], [0, 1]], 'float32');
 * weights.shape;     // [2, 2]
 * weights.toArray(); // [[1, 0], [0, 1]]
 */
export class TensorData implements TensorFields {
  readonly data: Float32Array | Int64Array;
  readonly dtype: TensorDtype;
  declare readonly shape?: readonly number[] | undefined;
  declare readonly sparseCrowIndices?: Int64Array | undefined;
  declare readonly sparseColIndices?: Int64Array | undefined;

  /** Throws a `ValidationError` when the parts contradict each other. */
  constructor(fields: TensorFields) {
    checkTensor(fields);
    this.data = fields.data;
    this.dtype = fields.dtype;
    if (fields.shape !== undefined) this.shape = fields.shape;
    if (fields.sparseCrowIndices !== undefined) this.sparseCrowIndices = fields.sparseCrowIndices;
    if (fields.sparseColIndices !== undefined) this.sparseColIndices = fields.sparseColIndices;
  }

  /**
   * Makes a dense tensor of numbers. The element type defaults to what a typed array holds (`float32` for floats, `int64` for
   * integers), `int64` for bigints and `float32` for plain numbers. For `int64`, fractions are cut toward zero.
   *
   * @param values Flat, nested (rectangular) or typed. A `Float32Array` or `BigInt64Array` of the right type is not copied.
   * @param shape Default: the nesting of the values, one dimension for flat ones.
   */
  static fromArray(values: NestedNumbers | AnyTypedArray, dtype?: TensorDtype, shape?: readonly number[]): TensorData {
    if (isTypedArray(values)) {
      const type = dtype ?? (holdsFloats(values) ? 'float32' : 'int64');
      return new TensorData({ data: castTyped(values, type), dtype: type, shape: shape ?? [values.length] });
    }
    if (!Array.isArray(values)) throw invalidRequest('TensorData', '', 'must be made of an array or a typed array of numbers');
    const flat = flatten(values as NestedNumbers, '');
    const type = dtype ?? (flat.hasBigints ? 'int64' : 'float32');
    return new TensorData({
      data: type === 'float32' ? toFloats(flat.values) : castInt64(flat.values),
      dtype: type,
      shape: shape ?? flat.shape,
    });
  }

  /** True for a tensor from any copy of this package. */
  static isInstance(value: unknown): value is TensorData {
    return hasKind(value, 'TensorData');
  }

  /** Whether only the non-zero values are stored. */
  get isSparse(): boolean {
    return this.sparseCrowIndices !== undefined;
  }

  /** The number of stored values. */
  get length(): number {
    return this.data.length;
  }

  /**
   * The content as arrays nested by the shape (flat without one); a sparse tensor is expanded. Numbers of an `int64` tensor that
   * a double cannot hold exactly come as bigints. `padValue` as in {@link TensorData.toDense}.
   */
  toArray(options?: PadOptions): NumberArray {
    const dense = this.toDense(options);
    const values = dense.data instanceof Float32Array ? Array.from(dense.data) : fromInt64Array(dense.data);
    return nest(values, dense.shape ?? [values.length]);
  }

  /** The stored values as plain numbers, in one flat list. An `int64` beyond 2^53 is a `ValidationError`: read `data` instead. */
  toNumbers(): number[] {
    if (this.data instanceof Float32Array) return Array.from(this.data);
    const numbers = fromInt64Array(this.data);
    const inexact = numbers.findIndex((value) => typeof value === 'bigint');
    if (inexact >= 0)
      throw invalidRequest('TensorData', `data[${inexact}]`, 'does not fit a number exactly; read it from `data` as a bigint');
    return numbers as number[];
  }

  /**
   * What `JSON.stringify` writes: the arrays of {@link TensorData.toArray}, with NaN and infinities as null and integers beyond 2^53 as text. The wire
   * format is another one, with the element type.
   */
  toJSON(): PlainNumbers {
    return withoutBigints(this.toArray());
  }

  /** The same content stored densely, with `padValue` (default 0) where nothing is stored; itself when it already is dense. */
  toDense(options?: PadOptions): TensorData {
    const padValue = padValueOf(options);
    return this.isSparse ? new TensorData(expand(this, padValue)) : this;
  }

  /**
   * The same content as compressed sparse rows when that is smaller (rows + 1 + 2 × stored values < rows × columns), else itself. What
   * equals `padValue` (default 0) is not stored. Only two-dimensional tensors become sparse. Negative zero counts as zero, NaN does not.
   */
  toSmallest(options?: PadOptions): TensorData {
    const padValue = padValueOf(options);
    const sparse = this.isSparse ? undefined : compress(this, padValue);
    return sparse === undefined ? this : new TensorData(sparse);
  }
}

markKind(TensorData, 'TensorData');
showAs(TensorData, ({ dtype, shape, isSparse, data }) => ({ dtype, shape, isSparse: isSparse || undefined, data }));

function withoutBigints(values: NumberArray): PlainNumbers {
  return values.map((value) => {
    if (Array.isArray(value)) return withoutBigints(value);
    return typeof value === 'bigint' ? String(value) : value;
  });
}

function padValueOf({ padValue = 0 }: PadOptions = {}): number {
  if (Number.isSafeInteger(padValue)) return padValue;
  throw invalidRequest('TensorData', 'padValue', `must be a whole number, got ${String(padValue)}`);
}

function castTyped(values: AnyTypedArray, dtype: TensorDtype): Float32Array | Int64Array {
  if (dtype === 'float32') {
    if (values instanceof Float32Array) return values;
    return values instanceof BigInt64Array || values instanceof BigUint64Array
      ? Float32Array.from(values, Number)
      : new Float32Array(values);
  }
  return values instanceof BigInt64Array ? values : castInt64(values);
}

function castInt64(values: ArrayLike<number | bigint>): Int64Array {
  const wrong = firstNonInt64(values, true);
  if (wrong >= 0) throw invalidRequest('TensorData', `[${wrong}]`, `must be a number inside int64, got ${String(values[wrong])}`);
  return toInt64Array(values);
}
