import { isLittleEndian } from './numbers.js';

type ViewConstructor<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
};

/**
 * Little-endian bytes as numbers: a view on the same memory when the bytes are aligned, else one copy. The caller has checked
 * that the length is a whole number of elements.
 */
export function viewNumbers<T extends ArrayBufferView>(View: ViewConstructor<T>, bytes: Uint8Array): T {
  const size = View.BYTES_PER_ELEMENT;
  const length = bytes.byteLength / size;
  if (isLittleEndian && bytes.byteOffset % size === 0) return new View(bytes.buffer, bytes.byteOffset, length);
  const copy = copyOf(bytes);
  if (!isLittleEndian) swapBytes(copy, size);
  return new View(copy.buffer, copy.byteOffset, length);
}

/** Numbers as little-endian bytes: a view on the same memory, or a swapped copy on a big-endian machine. */
export function viewBytes(numbers: ArrayBufferView & { readonly BYTES_PER_ELEMENT: number }): Uint8Array {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  if (isLittleEndian) return bytes;
  const copy = copyOf(bytes);
  swapBytes(copy, numbers.BYTES_PER_ELEMENT);
  return copy;
}

/** A copy at the start of its own buffer, and so aligned; `slice` of a Node Buffer would be a view. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

/** Reverses the bytes of each element in place. */
function swapBytes(bytes: Uint8Array, size: number): void {
  for (let start = 0; start + size <= bytes.length; start += size) bytes.subarray(start, start + size).reverse();
}
