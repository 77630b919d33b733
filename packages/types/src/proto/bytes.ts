import { type Numbers, type NumbersConstructor, viewNumbers } from '../tensor/byte-views.js';
import type { Int64Array } from '../tensor/numbers.js';
import { DType } from './gen/tinker_public_pb.js';

// The protobuf library brings a base64 that runs in every runtime. Only this folder knows the library.
export { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';

/** The same bytes as a plain `Uint8Array`: the methods of a subclass, such as Node's Buffer, may differ. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Bytes as numbers of the declared size. Throws when they are not a whole number of elements. */
export function elements<T extends Numbers>(View: NumbersConstructor<T>, bytes: Uint8Array, what: string): T {
  if (bytes.length % View.BYTES_PER_ELEMENT !== 0) {
    throw new RangeError(`${what} has ${bytes.length} bytes, which is not a whole number of elements of ${View.BYTES_PER_ELEMENT} bytes`);
  }
  return viewNumbers(View, bytes);
}

/** The bytes an element takes before it is widened, or undefined for an unknown dtype. */
export function elementSize(dtype: number): number | undefined {
  switch (dtype) {
    case DType.DTYPE_FLOAT32:
    case DType.DTYPE_INT32:
      return 4;
    case DType.DTYPE_INT64:
      return 8;
    case DType.DTYPE_BFLOAT16:
      return 2;
    default:
      return undefined;
  }
}

/** Bytes as numbers of the two public types: float32 and int64 are viewed, bfloat16 and int32 widened. */
export function widened(dtype: number, bytes: Uint8Array, what: string): Float32Array | Int64Array {
  switch (dtype) {
    case DType.DTYPE_FLOAT32:
      return elements(Float32Array, bytes, what);
    case DType.DTYPE_INT64:
      return elements(BigInt64Array, bytes, what);
    case DType.DTYPE_INT32: {
      const narrow = elements(Int32Array, bytes, what);
      const wide = new BigInt64Array(narrow.length);
      for (let index = 0; index < narrow.length; index += 1) wide[index] = BigInt(narrow[index] as number);
      return wide;
    }
    case DType.DTYPE_BFLOAT16: {
      const upper = elements(Uint16Array, bytes, what);
      const bits = new Uint32Array(upper.length);
      for (let index = 0; index < upper.length; index += 1) bits[index] = (upper[index] as number) << 16;
      return new Float32Array(bits.buffer);
    }
    default:
      throw new RangeError(`${what} has the unknown element type ${dtype}`);
  }
}
