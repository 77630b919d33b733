/** Types whose values can be read as numbers and written back. */
export const FLOAT_DTYPES = ['F32', 'F16', 'BF16'] as const;

/** A floating-point type of a tensor. */
export type FloatDtype = (typeof FLOAT_DTYPES)[number];

/** Whether {@link decodeFloats} can read the type. */
export function isFloatDtype(dtype: string): dtype is FloatDtype {
  return (FLOAT_DTYPES as readonly string[]).includes(dtype);
}

/** The values of a tensor as float32, which holds F16 and BF16 exactly. */
export function decodeFloats(bytes: Uint8Array, dtype: FloatDtype): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (dtype === 'F32') return Float32Array.from({ length: bytes.byteLength / 4 }, (_, index) => view.getFloat32(index * 4, true));
  const values = new Float32Array(bytes.byteLength / 2);
  const bits = new Uint32Array(values.buffer);
  for (let index = 0; index < values.length; index++) {
    const half = view.getUint16(index * 2, true);
    if (dtype === 'BF16') bits[index] = half << 16;
    else values[index] = halfToNumber(half);
  }
  return values;
}

/** The bytes of values in a type: rounded to the nearest value, ties to even. */
export function encodeFloats(values: Float32Array, dtype: FloatDtype): Uint8Array {
  const bytes = new Uint8Array(values.length * (dtype === 'F32' ? 4 : 2));
  const view = new DataView(bytes.buffer);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let index = 0; index < values.length; index++) {
    if (dtype === 'F32') view.setFloat32(index * 4, values[index] as number, true);
    else view.setUint16(index * 2, dtype === 'BF16' ? bfloat16Bits(bits[index] as number) : halfBits(values[index] as number), true);
  }
  return bytes;
}

/** Rounds values to bfloat16. */
export function roundToBfloat16(values: Float32Array): Float32Array {
  return decodeFloats(encodeFloats(values, 'BF16'), 'BF16');
}

function bfloat16Bits(bits: number): number {
  const isNotNumber = (bits & 0x7f80_0000) === 0x7f80_0000 && (bits & 0x007f_ffff) !== 0;
  if (isNotNumber) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

function halfToNumber(half: number): number {
  const [sign, exponent, fraction] = [half & 0x8000 ? -1 : 1, (half >>> 10) & 0x1f, half & 0x3ff];
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  // Below the smallest normal number the steps are all 2^-24 wide.
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const steps = roundHalfToEven(size / 2 ** (exponent - 10));
  // Adding the steps to the exponent's bits carries into the next exponent by itself.
  return sign | (exponent === -14 ? steps : ((exponent + 14) << 10) + steps);
}

/** Rounds to the nearest integer; of two that are equally near, to the even one. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest > 0.5 ? floor + 1 : floor;
  return floor % 2 === 0 ? floor : floor + 1;
}
