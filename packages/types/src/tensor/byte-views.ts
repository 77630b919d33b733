import { isLittleEndian } from './numbers.js';

/** A class of typed arrays. */
export type NumbersConstructor<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): T;
};

/** What all classes of typed arrays have in common, as far as it matters here. */
export type Numbers = ArrayBufferView & { slice(start: number, end: number): unknown };

/** As many bytes as V8 keeps inside a typed array, without memory outside of its heap. */
const MAX_SMALL_BYTES = 64;
const scratchBytes = new Uint8Array(MAX_SMALL_BYTES);
const scratchNumbers = new Map<NumbersConstructor<Numbers>, Numbers>();

/**
 * Little-endian bytes as numbers: a view on the same memory when the bytes are aligned, else one copy. Few numbers are always copied, so that
 * they do not keep the memory of a whole response. The caller has checked that the length is a whole number of elements.
 */
export function viewNumbers<T extends Numbers>(View: NumbersConstructor<T>, bytes: Uint8Array): T {
  const size = View.BYTES_PER_ELEMENT;
  const length = bytes.byteLength / size;
  if (isLittleEndian && bytes.byteLength <= MAX_SMALL_BYTES) return smallCopy(View, bytes, length);
  if (isLittleEndian && bytes.byteOffset % size === 0) return new View(bytes.buffer, bytes.byteOffset, length);
  const copy = copyOf(bytes);
  if (!isLittleEndian) swapBytes(copy, size);
  return new View(copy.buffer, copy.byteOffset, length);
}

/** Copies through scratch memory: accessing the buffer of a small array, in order to write into it, would move it out of the heap. */
function smallCopy<T extends Numbers>(View: NumbersConstructor<T>, bytes: Uint8Array, length: number): T {
  let numbers = scratchNumbers.get(View) as T | undefined;
  if (numbers === undefined) {
    numbers = new View(scratchBytes.buffer);
    scratchNumbers.set(View, numbers);
  }
  scratchBytes.set(bytes);
  return numbers.slice(0, length) as T;
}

/** Numbers as little-endian bytes: a view on the same memory, or a swapped copy on a big-endian processor. */
export function viewBytes(numbers: ArrayBufferView & { readonly BYTES_PER_ELEMENT: number }): Uint8Array {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  if (isLittleEndian) return bytes;
  const copy = copyOf(bytes);
  swapBytes(copy, numbers.BYTES_PER_ELEMENT);
  return copy;
}

/** A copy at the start of a new buffer, and so aligned; `slice` of a Node Buffer would be a view. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

/** Reverses the bytes of each element in place. */
function swapBytes(bytes: Uint8Array, size: number): void {
  for (let start = 0; start + size <= bytes.length; start += size) bytes.subarray(start, start + size).reverse();
}
