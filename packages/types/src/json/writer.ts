import { copyInt64, fromInt64Array, isTypedArray } from '../tensor/numbers.js';

/**
 * Writes values that hold typed arrays or bigints, after they have been checked. The engine's fastest writer of numbers is
 * `JSON.stringify` of a plain array, so typed arrays are copied into one, again and again into the same.
 */
export class JsonWriter {
  readonly #keys = new Map<string, string>();
  /** Arrays to copy into, by length. Integers and floats have their own: the engine stores the two differently. */
  readonly #integers = new Map<number, number[]>();
  readonly #floats = new Map<number, number[]>();

  write(value: unknown): string {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (isTypedArray(value)) return this.#writeNumbers(value);
    if (Array.isArray(value)) return this.#writeArray(value);
    return this.#writeObject(value as Record<string, unknown>);
  }

  #writeNumbers(values: ArrayLike<unknown> & { join(separator: string): string }): string {
    if (values instanceof BigInt64Array) {
      const plain = arrayOf(this.#integers, values.length, 0);
      return copyInt64(values, plain) ? JSON.stringify(plain) : `[${fromInt64Array(values).join(',')}]`;
    }
    if (values instanceof BigUint64Array) return `[${values.join(',')}]`;
    if (values instanceof Float32Array) return this.#writeFloats(values);
    const plain = values instanceof Float64Array ? arrayOf(this.#floats, values.length, 0.5) : arrayOf(this.#integers, values.length, 0);
    for (let index = 0; index < plain.length; index += 1) plain[index] = values[index] as number;
    return JSON.stringify(plain);
  }

  /** Weights are often just 0 and 1, and integers are written much faster than floats. */
  #writeFloats(values: Float32Array): string {
    const integers = arrayOf(this.#integers, values.length, 0);
    let index = 0;
    for (; index < values.length; index += 1) {
      const value = values[index] as number;
      if ((value | 0) !== value) break;
      integers[index] = value | 0;
    }
    if (index === values.length) return JSON.stringify(integers);
    const floats = arrayOf(this.#floats, values.length, 0.5);
    for (index = 0; index < values.length; index += 1) floats[index] = values[index] as number;
    return JSON.stringify(floats);
  }

  #writeArray(values: readonly unknown[]): string {
    if (values.every((value) => typeof value === 'number')) return JSON.stringify(values);
    let text = '';
    for (let index = 0; index < values.length; index += 1) text += `${index === 0 ? '' : ','}${this.write(values[index])}`;
    return `[${text}]`;
  }

  #writeObject(values: Readonly<Record<string, unknown>>): string {
    let text = '';
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value === undefined) continue;
      text += `${text === '' ? '' : ','}${this.#writeKey(key)}${this.write(value)}`;
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

/** An array of a length without holes; filling one that is there is much faster than growing one. */
function arrayOf(known: Map<number, number[]>, length: number, filler: number): number[] {
  let plain = known.get(length);
  if (plain === undefined) {
    plain = [];
    for (let index = 0; index < length; index += 1) plain.push(filler);
    known.set(length, plain);
  }
  return plain;
}
