import { z } from 'zod';
import { firstNonToken } from '../model-input/chunks.js';
import { firstNonInt64, firstNonNumber, toInt64Array } from '../tensor/numbers.js';
import { describe, expected } from './messages.js';
import type { WireType } from './wire-type.js';

/**
 * Bulk numbers are checked by one loop, not by a schema per element; typed arrays pass through `toWire` untouched and become
 * text in `stringifyJson`.
 */
function bulk<T>(
  what: string,
  isDone: (wire: unknown) => boolean,
  firstWrong: (wire: unknown[]) => number,
  make: (wire: unknown[]) => T,
): WireType<T> {
  const schema = z.unknown().superRefine((wire, context) => {
    if (isDone(wire)) return;
    if (!Array.isArray(wire)) {
      context.addIssue({ code: 'custom', message: expected(`a list of numbers, each ${what}`)({ input: wire }) });
      return;
    }
    const wrong = firstWrong(wire);
    if (wrong >= 0) context.addIssue({ code: 'custom', path: [wrong], message: `must be ${what}, got ${describe(wire[wrong])}` });
  });
  return {
    schema: () => schema,
    toWire: (value) => value,
    fromWire: (wire) => (isDone(wire) ? (wire as T) : make(wire as unknown[])),
  };
}

/** Token ids: whole numbers inside int32. */
export function tokens(): WireType<Int32Array> {
  return bulk<Int32Array>(
    'a whole number inside int32',
    (wire) => wire instanceof Int32Array,
    firstNonToken,
    (wire) => new Int32Array(wire as number[]),
  );
}

/** Floats of 32 bits. NaN and infinities cannot be written as JSON. */
export function floats(): WireType<Float32Array> {
  return bulk<Float32Array>('a finite number', (wire) => wire instanceof Float32Array, firstNonFinite, toFloats);
}

/** Whole numbers of 64 bits, exact. */
export function int64s(): WireType<BigInt64Array> {
  return bulk<BigInt64Array>(
    'a whole number inside int64',
    (wire) => wire instanceof BigInt64Array,
    (wire) => firstNonInt64(wire, false),
    (wire) => toInt64Array(wire as (number | bigint)[]),
  );
}

/** Floats in which null on the wire stands for NaN here: not computed. */
export function floatsOrNull(): WireType<Float32Array> {
  const type = bulk<Float32Array>(
    'a finite number or null',
    (wire) => wire instanceof Float32Array,
    (wire) => wire.findIndex((value) => value !== null && !isFiniteNumber(value)),
    (wire) => Float32Array.from(wire as (number | bigint | null)[], (value) => (value === null ? Number.NaN : Number(value))),
  );
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

function toFloats(values: readonly unknown[]): Float32Array {
  // The engine converts an array of numbers at once, but refuses bigints.
  return firstNonNumber(values) < 0 ? new Float32Array(values as number[]) : Float32Array.from(values as (number | bigint)[], Number);
}
