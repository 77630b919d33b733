import type { LossFnConfig } from '../training/forward-backward.js';
import { delimitedSize, type SizedWriter, type TextBytes } from './writer.js';

/** A tag and eight bytes. */
const DOUBLE_SIZE = 9;

/** The settings of a loss function as two maps: the numbers, for servers that know nothing else, and all of them. */
export class LossConfigWriter {
  readonly #entries: readonly (readonly [name: Uint8Array, value: number | Uint8Array])[];

  constructor(config: LossFnConfig, text: TextBytes) {
    this.#entries = Object.entries(config).map(([name, value]) => [
      text.of(name),
      typeof value === 'string' ? text.of(value) : Number(value),
    ]);
  }

  get size(): number {
    let size = 0;
    for (const [name, value] of this.#entries) {
      if (typeof value === 'number') size += delimitedSize(delimitedSize(name.length) + DOUBLE_SIZE);
      size += delimitedSize(delimitedSize(name.length) + delimitedSize(valueSize(value)));
    }
    return size;
  }

  /** The map of numbers. */
  writeNumbers(writer: SizedWriter, field: number): void {
    for (const [name, value] of this.#entries) {
      if (typeof value !== 'number') continue;
      writer.begin(field, delimitedSize(name.length) + DOUBLE_SIZE);
      writer.bytes(1, name);
      writer.double(2, value);
    }
  }

  /** The map of all settings. */
  writeAll(writer: SizedWriter, field: number): void {
    for (const [name, value] of this.#entries) {
      const length = valueSize(value);
      writer.begin(field, delimitedSize(name.length) + delimitedSize(length));
      writer.bytes(1, name);
      writer.begin(2, length);
      if (typeof value === 'number') writer.double(1, value);
      else writer.bytes(2, value);
    }
  }
}

function valueSize(value: number | Uint8Array): number {
  return typeof value === 'number' ? DOUBLE_SIZE : delimitedSize(value.length);
}
