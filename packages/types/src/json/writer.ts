import { int32OfInt64, isTypedArray } from '../tensor/numbers.js';
import { IntegerText } from './integer-text.js';

/**
 * Writes values that hold typed arrays or bigints, after they have been checked. Text is joined from pieces, as the engine's
 * writer does it.
 */
export class JsonWriter {
  readonly #integerText = new IntegerText();
  readonly #keys = new Map<string, string>();
  /** What integers are copied into, so that one loop writes all of them. */
  #integers = new Int32Array(0);
  /** What floats are copied into, by length; filling an array that is there is much faster than growing one. */
  readonly #floats = new Map<number, number[]>();

  write(value: unknown): string {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (isTypedArray(value)) return this.#writeNumbers(value);
    if (Array.isArray(value)) return this.#writeArray(value);
    return this.#writeObject(value as Record<string, unknown>);
  }

  #writeNumbers(values: ArrayLike<number | bigint> & { join(separator: string): string }): string {
    if (values instanceof Int32Array) return this.#integerText.of(values, values.length);
    if (values instanceof BigInt64Array || values instanceof Float32Array) {
      if (this.#integers.length < values.length) this.#integers = new Int32Array(values.length);
      // Targets are tokens, and weights are often just 0 and 1.
      const isSmall = values instanceof BigInt64Array ? int32OfInt64(values, this.#integers) : int32OfFloats(values, this.#integers);
      if (isSmall) return this.#integerText.of(this.#integers, values.length);
      if (values instanceof Float32Array) return this.#writeFloats(values);
    }
    return `[${values.join(',')}]`;
  }

  #writeFloats(values: Float32Array): string {
    let plain = this.#floats.get(values.length);
    if (plain === undefined) {
      plain = [];
      // A fraction makes the engine store floats from the start.
      for (let index = 0; index < values.length; index += 1) plain.push(0.5);
      this.#floats.set(values.length, plain);
    }
    for (let index = 0; index < values.length; index += 1) plain[index] = values[index] as number;
    return JSON.stringify(plain);
  }

  #writeArray(values: readonly unknown[]): string {
    let text = '';
    for (let index = 0; index < values.length; index += 1) text += `${index === 0 ? '' : ','}${this.write(values[index])}`;
    return `[${text}]`;
  }

  #writeObject(values: Readonly<Record<string, unknown>>): string {
    let text = '';
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value !== undefined) text += `${text === '' ? '' : ','}${this.#writeKey(key)}${this.write(value)}`;
    }
    return `{${text}}`;
  }

  /** The names of fields repeat in every object. */
  #writeKey(key: string): string {
    let text = this.#keys.get(key);
    if (text === undefined) {
      text = `${JSON.stringify(key)}:`;
      this.#keys.set(key, text);
    }
    return text;
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
