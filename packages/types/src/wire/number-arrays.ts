import { describe, expected } from '../errors/issue-text.js';
import { countInt32, firstNonInt64, int32Of, toFloats, toInt64Array } from '../tensor/numbers.js';
import type { Schema } from './schema.js';
import type { WireType } from './wire-type.js';

/** What is special about a kind of bulk numbers. */
interface BulkRules<T> {
  /** One of them, in words. */
  readonly what: string;
  readonly isDone: (wire: unknown) => wire is T;
  /** The typed array, or undefined when a value is wrong. */
  readonly make: (wire: readonly unknown[]) => T | undefined;
  /** The index of the first wrong value; asked for only when there is one. */
  readonly firstWrong: (wire: readonly unknown[]) => number;
}

/**
 * Bulk numbers are checked and converted by one loop, not by a schema per element; typed arrays pass through `toWire` untouched and
 * become text in `stringifyJson`.
 */
function bulk<T>({ what, isDone, make, firstWrong }: BulkRules<T>): WireType<T> {
  const schema: Schema = (wire, issues) => {
    if (isDone(wire)) return wire;
    if (!Array.isArray(wire)) {
      issues.push({ path: [], message: expected(`a list of numbers, each ${what}`)({ input: wire }) });
      return wire;
    }
    const made = make(wire);
    if (made !== undefined) return made;
    const wrong = firstWrong(wire);
    issues.push({ path: [wrong], message: `must be ${what}, got ${describe(wire[wrong])}` });
    return wire;
  };
  return { schema: () => schema, toWire: (value) => value, fromWire: (wire) => wire as T };
}

/** Token ids: whole numbers inside int32. */
export function tokens(): WireType<Int32Array> {
  return bulk<Int32Array>({
    what: 'a whole number inside int32',
    isDone: (wire) => wire instanceof Int32Array,
    make: int32Of,
    firstWrong: countInt32,
  });
}

/** Floats of 32 bits. NaN and infinities cannot be written as JSON. */
export function floats(): WireType<Float32Array> {
  return bulk<Float32Array>({
    what: 'a finite number',
    isDone: (wire) => wire instanceof Float32Array,
    make: (wire) => (firstNonFinite(wire) < 0 ? toFloats(wire) : undefined),
    firstWrong: firstNonFinite,
  });
}

/** Whole numbers of 64 bits, exact. */
export function int64s(): WireType<BigInt64Array> {
  return bulk<BigInt64Array>({
    what: 'a whole number inside int64',
    isDone: (wire) => wire instanceof BigInt64Array,
    make: (wire) => (firstNonInt64(wire, false) < 0 ? toInt64Array(wire as (number | bigint)[]) : undefined),
    firstWrong: (wire) => firstNonInt64(wire, false),
  });
}

/** Floats in which null on the wire stands for NaN here: not computed. */
export function floatsOrNull(): WireType<Float32Array> {
  const firstWrong = (wire: readonly unknown[]) => wire.findIndex((value) => value !== null && !isFiniteNumber(value));
  const type = bulk<Float32Array>({
    what: 'a finite number or null',
    isDone: (wire) => wire instanceof Float32Array,
    make: (wire) =>
      firstWrong(wire) < 0
        ? Float32Array.from(wire as (number | bigint | null)[], (value) => (value === null ? Number.NaN : Number(value)))
        : undefined,
    firstWrong,
  });
  return {
    ...type,
    toWire: (value) => (value instanceof Float32Array ? Array.from(value, (entry) => (Number.isNaN(entry) ? null : entry)) : value),
  };
}

function firstNonFinite(values: ArrayLike<unknown>): number {
  for (let index = 0; index < values.length; index += 1) if (!isFiniteNumber(values[index])) return index;
  return -1;
}

/** A float without a fraction may have been read as a bigint. */
function isFiniteNumber(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));
}
