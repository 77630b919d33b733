import { readVectors, type VectorCase } from '../../../vectors/read.js';

/** The cases of a vector file of the protocol. Throws when there are fewer than the protocol lists, so that none gets lost. */
export function vectorCases<Input, Expected>(file: string, count: number): VectorCase<Input, Expected>[] {
  const cases = readVectors<Input, Expected>(file);
  if (cases.length !== count) throw new Error(`${file}.json has ${cases.length} cases, expected ${count}`);
  return cases;
}

/** Numbers that do not fit JSON are text in the vectors. */
export function vectorNumber(value: number | string | null): number {
  return value === null ? Number.NaN : Number(value);
}

/** Bytes of hexadecimal text. */
export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Hexadecimal text of bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
