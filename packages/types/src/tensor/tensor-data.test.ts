import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { TensorData, ValidationError } from '../index.js';
import { stringifyJson } from '../wire.js';

describe('TensorData.fromArray', () => {
  it.each([
    [Float32Array.of(1, 2), 'float32'],
    [Float64Array.of(1, 2), 'float32'],
    [Int32Array.of(1, 2), 'int64'],
    [Uint8Array.of(1, 2), 'int64'],
    [BigInt64Array.of(1n, 2n), 'int64'],
    [[1, 2], 'float32'],
    [[1n, 2n], 'int64'],
  ] as const)('takes %o as %s', (values, dtype) => {
    const tensor = TensorData.fromArray(values);
    expect(tensor).toMatchObject({ dtype, shape: [2], length: 2, isSparse: false });
    expect(tensor.toArray()).toEqual([1, 2]);
  });

  it('does not copy a typed array of the right type', () => {
    const floats = Float32Array.of(1);
    expect(TensorData.fromArray(floats).data).toBe(floats);
    const integers = BigInt64Array.of(1n);
    expect(TensorData.fromArray(integers, 'int64').data).toBe(integers);
  });

  it('nests by the shape, and flattens again', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }), (shape) => {
        const size = shape.reduce((product, length) => product * length, 1);
        const tensor = TensorData.fromArray(
          Float32Array.from({ length: size }, (_, index) => index),
          'float32',
          shape,
        );
        expect(TensorData.fromArray(tensor.toArray() as number[], 'float32')).toEqual(tensor);
      }),
    );
  });

  it('keeps int64 exact', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.maxSafeInteger())), (values) => {
        const tensor = TensorData.fromArray(values, 'int64');
        expect(Array.from(tensor.data as BigInt64Array)).toEqual(values.map(BigInt));
        expect(tensor.toArray().map((value) => BigInt(value as number))).toEqual(values.map(BigInt));
      }),
    );
    expect(() => TensorData.fromArray([2n ** 60n]).toNumbers()).toThrow(/bigint/);
  });

  it.each([
    [[Number.NaN], /int64, got NaN/],
    [[Number.POSITIVE_INFINITY], /int64, got Infinity/],
    [[2n ** 63n], /int64, got 9223372036854775808/],
    [[2 ** 63], /int64/],
    [[[1], [2, 3]], /ragged/],
    [[1, [2]], /ragged/],
    [[[1], 2], /ragged/],
    [['1'], /must be a number, not string/],
    [[null], /must be a number, not null/],
    ['12', /must be made of an array/],
  ])('refuses %o as int64', (values, message) => {
    expect(() => TensorData.fromArray(values as never, 'int64')).toThrow(message);
    expect(() => TensorData.fromArray(values as never, 'int64')).toThrow(ValidationError);
  });
});

describe('TensorData', () => {
  it.each([
    [{ data: new Float32Array(3), dtype: 'float32', shape: [2] }, /shape \[2\] needs 2 values, but data holds 3/],
    [{ data: new Float32Array(0), dtype: 'float32', shape: [-1] }, /shape\[0\]/],
    [{ data: new Float32Array(1), dtype: 'float32', shape: [1.5] }, /shape\[0\]/],
    [{ data: new Float32Array(1), dtype: 'int64' }, /BigInt64Array/],
    [{ data: [1], dtype: 'float32' }, /Float32Array/],
    [{ data: new Float32Array(1), dtype: 'int8' }, /dtype/],
    [
      { data: new Float32Array(1), dtype: 'float32', shape: [1, 2], sparseCrowIndices: BigInt64Array.of(0n, 1n) },
      /sparseColIndices is required/,
    ],
    [
      {
        data: new Float32Array(1),
        dtype: 'float32',
        shape: [2, 2],
        sparseCrowIndices: BigInt64Array.of(0n, 1n),
        sparseColIndices: BigInt64Array.of(0n),
      },
      /3 entries/,
    ],
    [
      {
        data: new Float32Array(1),
        dtype: 'float32',
        shape: [1, 2],
        sparseCrowIndices: BigInt64Array.of(0n, 2n),
        sparseColIndices: BigInt64Array.of(0n),
      },
      /must end with/,
    ],
    [
      {
        data: new Float32Array(1),
        dtype: 'float32',
        shape: [1, 2],
        sparseCrowIndices: BigInt64Array.of(0n, 1n),
        sparseColIndices: BigInt64Array.of(2n),
      },
      /from 0 to 1/,
    ],
    [
      { data: new Float32Array(1), dtype: 'float32', sparseCrowIndices: BigInt64Array.of(0n, 1n), sparseColIndices: BigInt64Array.of(0n) },
      /two-dimensional/,
    ],
  ])('refuses parts that contradict each other (%#)', (fields, message) => {
    expect(() => new TensorData(fields as never)).toThrow(message);
  });

  it('expands what it compressed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9 }), fc.integer(), (rows, columns, seed) => {
        const data = Float32Array.from({ length: rows * columns }, (_, index) => ((index * 31 + seed) % 5 === 0 ? index + 1 : 0));
        const dense = TensorData.fromArray(data, 'float32', [rows, columns]);
        expect(dense.toSmallest().toDense()).toEqual(dense);
      }),
    );
  });

  it('is recognized across copies of the package', async () => {
    vi.resetModules();
    const copy = await import('../index.js');
    const other = copy.TensorData.fromArray([1]);
    expect(other).not.toBeInstanceOf(TensorData);
    expect(TensorData.isInstance(other)).toBe(true);
  });
});

describe('floats of a class that not every runtime has, such as Float16Array', () => {
  /** Floats that are instances of neither class every runtime has: what all typed arrays inherit is their only prototype. */
  const otherFloats = (values: number[]): Float32Array =>
    Object.setPrototypeOf(Float64Array.from(values), Object.create(Object.getPrototypeOf(Float64Array.prototype)));

  it('become float32, and JSON only when they are finite', () => {
    const floats = otherFloats([0.5, -1.25]);
    expect(floats instanceof Float64Array).toBe(false);
    expect(TensorData.fromArray(floats)).toEqual(TensorData.fromArray([0.5, -1.25], 'float32'));
    expect(stringifyJson(floats)).toBe('[0.5,-1.25]');
    expect(() => stringifyJson(otherFloats([Number.NaN]))).toThrow('[0] is NaN');
  });
});
