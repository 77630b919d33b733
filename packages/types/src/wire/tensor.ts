import { describe } from '../errors/issue-text.js';
import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import type { JsonObject } from '../json/json-value.js';
import { firstNonInt64, firstNonNumber, int64OfInt32, toInt64Array } from '../tensor/numbers.js';
import { TensorData, type TensorDtype } from '../tensor/tensor-data.js';
import { list } from './collections.js';
import { int64s } from './number-arrays.js';
import { requestType } from './objects.js';
import { integer, oneOf } from './scalars.js';
import { anyValue, prepared } from './schema.js';
import { optional, type WireType, wireName } from './wire-type.js';

/** The JSON form of a tensor, in our names. Numbers are not checked one by one here: {@link readContent} does. */
interface TensorParts {
  readonly data: unknown;
  readonly dtype: TensorDtype;
  readonly shape?: readonly number[] | undefined;
  readonly sparseCrowIndices?: BigInt64Array | undefined;
  readonly sparseColIndices?: BigInt64Array | undefined;
}

const anything: WireType<unknown> = { schema: () => anyValue, toWire: (value) => value, fromWire: (wire) => wire };

const parts = requestType<TensorParts>({
  data: anything,
  dtype: oneOf('float32', 'int64'),
  shape: optional(list(integer({ min: 0 }))),
  sparseCrowIndices: optional(int64s()),
  sparseColIndices: optional(int64s()),
});

/**
 * A tensor. `isResponse`: null shapes and unknown fields are accepted, because servers send them in JSON.
 */
export function tensor({ isResponse }: { readonly isResponse: boolean }): WireType<TensorData> {
  return {
    schema: (isLenient) => {
      const strict = parts.schema(isLenient);
      return isResponse ? prepared(dropForeign, strict) : strict;
    },
    toWire(value) {
      if (!TensorData.isInstance(value)) throw invalidRequest('', '', 'must be a TensorData; make one with TensorData.fromArray(values)');
      const { data, dtype, shape, sparseCrowIndices, sparseColIndices } = value;
      return {
        data,
        dtype,
        shape,
        sparse_crow_indices: sparseCrowIndices,
        sparse_col_indices: sparseColIndices,
      };
    },
    fromWire(wire) {
      const { data, ...rest } = parts.fromWire(wire);
      const content = readContent(data, rest.dtype);
      return inWireNames(() => new TensorData({ ...rest, data: content }));
    },
    child: parts.child,
  };
}

/** A tensor speaks of its parts in our names; what was read has those of the wire. */
function inWireNames<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    const issues = error.issues.map(({ path, message }) => ({ path: wireName(path), message }));
    throw new ValidationError({ direction: error.direction, issues });
  }
}

const KNOWN = ['data', 'dtype', 'shape', 'sparse_crow_indices', 'sparse_col_indices'];

function dropForeign(wire: unknown): unknown {
  if (typeof wire !== 'object' || wire === null) return wire;
  const object = wire as JsonObject;
  return Object.fromEntries(KNOWN.filter((key) => object[key] !== undefined && object[key] !== null).map((key) => [key, object[key]]));
}

function readContent(data: unknown, dtype: TensorDtype): Float32Array | BigInt64Array {
  if (dtype === 'float32') {
    if (data instanceof Float32Array) return data;
    if (!Array.isArray(data)) throw invalidRequest('', 'data', `must be a list of numbers, got ${describe(data)}`);
    return readFloats(data);
  }
  if (data instanceof BigInt64Array) return data;
  if (!Array.isArray(data)) throw invalidRequest('', 'data', `must be a list of whole numbers, got ${describe(data)}`);
  const small = int64OfInt32(data);
  if (small !== undefined) return small;
  const wrong = firstNonInt64(data, false);
  if (wrong >= 0) throw invalidRequest('', `data[${wrong}]`, `must be a whole number inside int64, got ${describe(data[wrong])}`);
  return toInt64Array(data as (number | bigint)[]);
}

function readFloats(data: readonly unknown[]): Float32Array {
  // The engine converts an array of numbers in one go, but turns null into 0, so check first.
  if (firstNonNumber(data) < 0) return new Float32Array(data as number[]);
  return Float32Array.from(data, (value, index) => {
    if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
    throw invalidRequest('', `data[${index}]`, `must be a number, got ${describe(value)}`);
  });
}
