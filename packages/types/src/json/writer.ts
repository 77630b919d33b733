import { int32OfInt64, isTypedArray } from '../tensor/numbers.js';
import { TextBuffer } from './text-buffer.js';

/**
 * Writes values that hold typed arrays or bigints, after they have been checked. The text is built in bytes: small integers are
 * written digit by digit, which is faster than anything the engine offers; floats by the engine, through a plain array.
 */
export class JsonWriter {
  readonly #buffer = new TextBuffer();
  /** What integers are copied into, so that one loop writes all of them. */
  #integers = new Int32Array(0);
  /** What floats are copied into, by length; filling an array that is there is much faster than growing one. */
  readonly #floats = new Map<number, number[]>();

  write(value: unknown): string {
    this.#write(value);
    return this.#buffer.toString();
  }

  #write(value: unknown): void {
    if (typeof value === 'bigint') this.#buffer.text(value.toString());
    else if (typeof value !== 'object' || value === null) this.#buffer.text(JSON.stringify(value));
    else if (isTypedArray(value)) this.#writeNumbers(value);
    else if (Array.isArray(value)) this.#writeArray(value);
    else this.#writeObject(value as Record<string, unknown>);
  }

  #writeNumbers(values: ArrayLike<number | bigint> & { join(separator: string): string }): void {
    if (values instanceof Int32Array) {
      this.#buffer.integers(values, values.length);
      return;
    }
    if (values instanceof BigInt64Array || values instanceof Float32Array) {
      if (this.#integers.length < values.length) this.#integers = new Int32Array(values.length);
      // Targets are tokens, and weights are often just 0 and 1.
      const isSmall = values instanceof BigInt64Array ? int32OfInt64(values, this.#integers) : int32OfFloats(values, this.#integers);
      if (isSmall) this.#buffer.integers(this.#integers, values.length);
      else if (values instanceof BigInt64Array) this.#buffer.text(`[${values.join(',')}]`);
      else this.#writeFloats(values);
      return;
    }
    this.#buffer.text(`[${values.join(',')}]`);
  }

  #writeFloats(values: Float32Array): void {
    let plain = this.#floats.get(values.length);
    if (plain === undefined) {
      plain = [];
      // A fraction makes the engine store floats from the start.
      for (let index = 0; index < values.length; index += 1) plain.push(0.5);
      this.#floats.set(values.length, plain);
    }
    for (let index = 0; index < values.length; index += 1) plain[index] = values[index] as number;
    this.#buffer.text(JSON.stringify(plain));
  }

  #writeArray(values: readonly unknown[]): void {
    this.#buffer.text('[');
    for (let index = 0; index < values.length; index += 1) {
      if (index > 0) this.#buffer.text(',');
      this.#write(values[index]);
    }
    this.#buffer.text(']');
  }

  #writeObject(values: Readonly<Record<string, unknown>>): void {
    let separator = '{';
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value === undefined) continue;
      this.#buffer.text(separator);
      this.#buffer.text(JSON.stringify(key));
      this.#buffer.text(':');
      this.#write(value);
      separator = ',';
    }
    this.#buffer.text(separator === '{' ? '{}' : '}');
  }
}

/** Copies floats that are integers of 32 bits, and says whether all of them are. */
function int32OfFloats(values: Float32Array, target: Int32Array): boolean {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    if ((value | 0) !== value) return false;
    target[index] = value;
  }
  return true;
}
