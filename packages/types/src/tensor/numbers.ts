/** What an `int64` tensor holds. */
export type Int64Array = BigInt64Array;

/** Every typed array whose content is numbers. */
export type AnyTypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Whether the machine stores the low byte first, as the wire does. */
export const isLittleEndian: boolean = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The range of a token on the wire. */
export const INT32_MIN = -2147483648;
/** The range of a token on the wire. */
export const INT32_MAX = 2147483647;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const TWO_63 = 2 ** 63;
const TWO_32 = 2 ** 32;

/** Whether a value is a typed array of numbers. */
export function isTypedArray(value: unknown): value is AnyTypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** How many values from the start on are integers of 32 bits: all of them, where they are token ids. */
export function countInt32(values: ArrayLike<unknown>): number {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value !== 'number' || (value | 0) !== value) return index;
  }
  return values.length;
}

/** The index of the first value that is no whole number inside int64, or -1. Fractions are allowed when they may be cut off. */
export function firstNonInt64(values: ArrayLike<unknown>, allowFractions: boolean): number {
  for (let index = countInt32(values); index < values.length; index += 1) {
    const value = values[index];
    if (typeof value === 'number') {
      if (!(value >= -TWO_63 && value < TWO_63)) return index;
      if (!allowFractions && !Number.isInteger(value)) return index;
    } else if (typeof value === 'bigint') {
      if (value < INT64_MIN || value > INT64_MAX) return index;
    } else return index;
  }
  return -1;
}

/** Copies checked numbers (see {@link firstNonInt64}) into int64 cells, cutting fractions, without making a bigint for each. */
export function toInt64Array(values: ArrayLike<number | bigint>): Int64Array {
  const target = new BigInt64Array(values.length);
  const words = new Int32Array(target.buffer);
  const small = isLittleEndian ? countInt32(values) : 0;
  for (let index = 0; index < small; index += 1) {
    const value = values[index] as number;
    words[2 * index] = value;
    words[2 * index + 1] = value >> 31;
  }
  for (let index = small; index < values.length; index += 1) {
    const value = values[index] as number | bigint;
    target[index] = typeof value === 'bigint' ? value : BigInt(Math.trunc(value));
  }
  return target;
}

/** The numbers of an int64 array: plain numbers where those are exact, bigints beyond 2^53. Makes a bigint only for the latter. */
export function fromInt64Array(values: Int64Array): (number | bigint)[] {
  const numbers: number[] = [];
  if (copyInt64(values, numbers)) return numbers;
  return Array.from(values, (exact) => (Number.isSafeInteger(Number(exact)) ? Number(exact) : exact));
}

/** Copies int64 cells to the start of an array of numbers, and says whether all of them are exact as such. Makes no bigints. */
export function copyInt64(values: Int64Array, target: number[]): boolean {
  if (!isLittleEndian) {
    for (let index = 0; index < values.length; index += 1) target[index] = Number(values[index]);
    return values.every((exact) => Number.isSafeInteger(Number(exact)));
  }
  const low = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const high = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let index = 0; index < values.length; index += 1) {
    const value = (high[2 * index + 1] as number) * TWO_32 + (low[2 * index] as number);
    if (!Number.isSafeInteger(value)) return false;
    target[index] = value;
  }
  return true;
}

/** The index of the first value that is no number, or -1. */
export function firstNonNumber(values: readonly unknown[]): number {
  // The engine stores arrays of integers and of floats differently. A loop that sees both kinds makes an object of every float, so
  // each kind has a loop of its own; a wrong guess costs time only.
  return looksWhole(values) ? firstNonNumberOfIntegers(values) : firstNonNumberOfFloats(values);
}

function looksWhole(values: readonly unknown[]): boolean {
  const step = Math.max(1, values.length >> 4);
  for (let index = 0; index < values.length; index += step) if (!Number.isInteger(values[index])) return false;
  return true;
}

function firstNonNumberOfIntegers(values: readonly unknown[]): number {
  for (let index = 0; index < values.length; index += 1) if (typeof values[index] !== 'number') return index;
  return -1;
}

function firstNonNumberOfFloats(values: readonly unknown[]): number {
  for (let index = 0; index < values.length; index += 1) if (typeof values[index] !== 'number') return index;
  return -1;
}
