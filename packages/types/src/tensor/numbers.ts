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

/** Whether the processor stores the low byte first, as the wire does. */
export const isLittleEndian: boolean = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The largest integer of 32 bits. */
export const INT32_MAX = 2147483647;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const TWO_63 = 2 ** 63;

/** Whether a value is a typed array of numbers. */
export function isTypedArray(value: unknown): value is AnyTypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** Whether the values of a typed array are floats. By name: `Float16Array` is one, too, and not every runtime has it. */
export function holdsFloats(values: AnyTypedArray): boolean {
  return values[Symbol.toStringTag].startsWith('Float');
}

/** The index of the first NaN or infinity, or -1; integers have none. */
export function firstNonFinite(values: AnyTypedArray): number {
  if (!holdsFloats(values)) return -1;
  // Infinity minus itself is NaN, as is NaN minus itself.
  for (let index = 0; index < values.length; index += 1) if ((values[index] as number) - (values[index] as number) !== 0) return index;
  return -1;
}

/**
 * One value of an array of unknown kind. Reading it by index in code that sees both arrays of numbers and arrays of objects would
 * make the engine convert the whole array of numbers into an array of objects, which costs more than everything else.
 */
export function peek(values: readonly unknown[], index: number): unknown {
  return Reflect.get(values, index);
}

/** How many values from the start on are integers of 32 bits: all of them, where they are token ids. */
export function countInt32(values: ArrayLike<unknown>): number {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value !== 'number' || (value | 0) !== value) return index;
  }
  return values.length;
}

/** The index of the first value that is not a whole number inside int64, or -1. Fractions are allowed when they may be cut off. */
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
  for (let index = fillInt64(target, values); index < values.length; index += 1) {
    const value = values[index] as number | bigint;
    target[index] = typeof value === 'bigint' ? value : BigInt(Math.trunc(value));
  }
  return target;
}

/** Int64 cells with numbers that all are integers of 32 bits, or undefined when one is not: checked and copied in one go. */
export function int64OfInt32(values: ArrayLike<unknown>): Int64Array | undefined {
  const target = new BigInt64Array(values.length);
  return fillInt64(target, values) === values.length ? target : undefined;
}

/** Fills int64 cells up to the first value that is not an integer of 32 bits, and returns its index. */
function fillInt64(target: Int64Array, values: ArrayLike<unknown>): number {
  if (!isLittleEndian) return 0;
  const words = new Int32Array(target.buffer);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value !== 'number' || (value | 0) !== value) return index;
    words[2 * index] = value;
    words[2 * index + 1] = value >> 31;
  }
  return values.length;
}

/** Integers of 32 bits, or undefined if a value is not one: checked and copied in one go. */
export function int32Of(values: ArrayLike<unknown>): Int32Array | undefined {
  const target = new Int32Array(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value !== 'number' || (value | 0) !== value) return undefined;
    target[index] = value;
  }
  return target;
}

/** The numbers of an int64 array: plain numbers where those are exact, bigints beyond 2^53. */
export function fromInt64Array(values: Int64Array): (number | bigint)[] {
  const small = new Int32Array(values.length);
  if (int32OfInt64(values, small)) return plainNumbers(small);
  return Array.from(values, (exact) => {
    const rounded = Number(exact);
    return Number.isSafeInteger(rounded) ? rounded : exact;
  });
}

/** The same as an array. `Array.from` steps through its iterator, which takes several times as long. */
function plainNumbers(values: Int32Array): number[] {
  const numbers = new Array<number>(values.length);
  for (let index = 0; index < values.length; index += 1) numbers[index] = values[index] as number;
  return numbers;
}

/** Copies int64 cells that fit 32 bits, and says whether all of them do. Makes no bigints. */
export function int32OfInt64(values: Int64Array, target: Int32Array): boolean {
  if (!isLittleEndian) return false;
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let index = 0; index < values.length; index += 1) {
    const low = words[2 * index] as number;
    if (words[2 * index + 1] !== low >> 31) return false;
    target[index] = low;
  }
  return true;
}

/** Floats of numbers and bigints. */
export function toFloats(values: readonly unknown[]): Float32Array {
  // The engine copies an array of numbers in one go, but refuses bigints.
  if (firstNonNumber(values) >= 0) return Float32Array.from(values as readonly (number | bigint)[], Number);
  const floats = new Float32Array(values.length);
  floats.set(values as readonly number[]);
  return floats;
}

/** The index of the first value that is not a number, or -1. */
export function firstNonNumber(values: readonly unknown[]): number {
  // The engine stores arrays of integers and of floats differently. A loop that sees both kinds makes an object of every float, so
  // each kind has its own loop; a wrong guess costs only time.
  return looksWhole(values) ? firstNonNumberOfIntegers(values) : firstNonNumberOfFloats(values);
}

/** Whether a few values, spread over the array, are all integers. */
export function looksWhole(values: readonly unknown[]): boolean {
  const step = Math.max(1, values.length >> 4);
  for (let index = 0; index < values.length; index += step) if (!Number.isInteger(peek(values, index))) return false;
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
