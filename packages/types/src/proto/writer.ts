import { INT32_MAX } from '../tensor/numbers.js';

/** How a value is laid out on the wire. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** What every runtime has and the language's own library does not declare. */
declare class TextEncoder {
  encode(text: string): Uint8Array;
}

/** Gives an array of exactly `size` bytes. */
export type AllocateBytes = (size: number) => Uint8Array;

const allocateBytes: AllocateBytes = (size) => new Uint8Array(size);

/** How many bytes a number from 0 up takes as a varint. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  let size = 4;
  for (let rest = Math.floor(value / 0x20_0000); rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

/** How many bytes a field takes that is a length and then that many bytes. Field numbers are below 16 throughout the schema. */
export function delimitedSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/**
 * Writes into one buffer whose size is known beforehand, so that bulk numbers are copied exactly once. Sizes are computed by the
 * functions above; writing more or less than that throws.
 */
export class SizedWriter {
  readonly #bytes: Uint8Array;
  #position = 0;

  /** @param allocate - Gives an array of exactly this length, whose content does not matter. */
  constructor(size: number, allocate: AllocateBytes = allocateBytes) {
    this.#bytes = allocate(size);
    if (this.#bytes.length !== size) throw new RangeError(`the array for the bytes has ${this.#bytes.length} instead of ${size}`);
  }

  /** The begin of a field that is a length and then that many bytes, which the caller writes next. */
  begin(field: number, length: number): void {
    this.#byte((field << 3) | BYTES);
    this.#varint(length);
  }

  /** A field of bytes. */
  bytes(field: number, bytes: Uint8Array): void {
    this.begin(field, bytes.length);
    this.raw(bytes);
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** A field with a number from 0 up. */
  varint(field: number, value: number): void {
    this.#byte((field << 3) | VARINT);
    this.#varint(value);
  }

  /** A list of numbers from 0 up, packed. Write it only when it has entries. */
  packed(field: number, values: readonly number[]): void {
    this.begin(field, packedLength(values));
    for (let index = 0; index < values.length; index += 1) this.#varint(values[index] as number);
  }

  /** A field with a double. */
  double(field: number, value: number): void {
    this.#byte((field << 3) | FIXED64);
    new DataView(this.#bytes.buffer, this.#bytes.byteOffset).setFloat64(this.#position, value, true);
    this.#position += 8;
  }

  /** The buffer, full. */
  finish(): Uint8Array {
    if (this.#position !== this.#bytes.length) throw new Error('the computed size of a message is wrong');
    return this.#bytes;
  }

  #varint(value: number): void {
    let rest = value;
    // Bits where they suffice, division beyond.
    while (rest > INT32_MAX) {
      this.#byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    while (rest >= 0x80) {
      this.#byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.#byte(rest);
  }

  #byte(value: number): void {
    this.#bytes[this.#position] = value;
    this.#position += 1;
  }
}

/** How many bytes packed numbers take without the field's begin. */
export function packedLength(values: readonly number[]): number {
  let length = 0;
  for (let index = 0; index < values.length; index += 1) length += varintSize(values[index] as number);
  return length;
}

/** UTF-8 bytes of texts, each encoded once: the names of tensors repeat in every datum. */
export class TextBytes {
  readonly #encoder = new TextEncoder();
  readonly #known = new Map<string, Uint8Array>();

  of(text: string): Uint8Array {
    let bytes = this.#known.get(text);
    if (bytes === undefined) {
      bytes = this.#encoder.encode(text);
      this.#known.set(text, bytes);
    }
    return bytes;
  }
}
