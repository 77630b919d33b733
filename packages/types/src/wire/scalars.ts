import { expected } from '../errors/issue-text.js';
import { anyValue, checked, nullableValue, prepared, type Schema, textThat } from './schema.js';
import type { WireType } from './wire-type.js';

/** Bounds of a number, both inclusive. */
export interface Bounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** No two parts of it match the same text, so that a long text takes no longer than its length. */
const NUMERIC_TEXT = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

function same<T>(schema: (isLenient: boolean) => Schema): WireType<T> {
  return { schema, toWire: (value) => value, fromWire: (wire) => wire as T };
}

/** Text. `startsWith` demands a prefix, `isNonEmpty` at least one character. */
export function text(options: { readonly startsWith?: string | undefined; readonly isNonEmpty?: boolean } = {}): WireType<string> {
  const { startsWith, isNonEmpty = false } = options;
  return same(() => {
    const what = startsWith === undefined ? (isNonEmpty ? 'text that is not empty' : 'text') : `text that starts with ${startsWith}`;
    return textThat((value) => (!isNonEmpty || value !== '') && value.startsWith(startsWith ?? ''), expected(what));
  });
}

/** One of some texts. */
export function oneOf<const T extends string>(...values: readonly T[]): WireType<T> {
  return same(() => textThat((value) => values.includes(value as T), expected(`one of ${values.map((value) => `'${value}'`).join(', ')}`)));
}

/**
 * A text that names a kind, in a response. A kind that this version does not know is kept as it is, so that one new kind never makes
 * a whole list unreadable.
 */
export function openOneOf<const T extends string>(..._known: readonly T[]): WireType<OpenText<T>> {
  return text() as WireType<OpenText<T>>;
}

/** One of some known texts, or another one that a newer server sends. */
export type OpenText<T extends string> = T | (string & {});

/** True or false. Lenient: also 0, 1, `'true'` and `'false'`. */
export function flag(): WireType<boolean> {
  return same((isLenient) => {
    const schema = checked((value) => typeof value === 'boolean', expected('true or false'));
    return isLenient ? prepared(readFlag, schema) : schema;
  });
}

/** A finite number. Lenient: also numeric text. */
export function number(bounds: Bounds = {}): WireType<number> {
  const what = `a finite number${boundsText(bounds)}`;
  return same((isLenient) => {
    const schema = checked((value) => Number.isFinite(value) && isWithin(value as number, bounds), expected(what));
    return prepared((value) => readFloat(isLenient ? readNumber(value) : value), schema);
  });
}

/** A whole number that a double holds exactly. Lenient: also numeric text. */
export function integer(bounds: Bounds = {}): WireType<number> {
  const what = `a whole number${boundsText(bounds)}`;
  return same((isLenient) => {
    const schema = checked((value) => Number.isSafeInteger(value) && isWithin(value as number, bounds), expected(what));
    return isLenient ? prepared(readNumber, schema) : schema;
  });
}

/** A whole number of up to 64 bits, exact: a bigint where a double is not. */
export function integer64({
  min = -(2n ** 63n),
  max = 2n ** 64n - 1n,
}: {
  readonly min?: bigint | undefined;
  readonly max?: bigint | undefined;
} = {}): WireType<number | bigint> {
  const what = `a whole number from ${min} to ${max} (a bigint beyond 2^53)`;
  const fits = (value: number | bigint) => value >= min && value <= max;
  return {
    schema: (isLenient) => {
      const isWhole = (value: unknown) => Number.isSafeInteger(value) || typeof value === 'bigint';
      const schema = checked((value) => isWhole(value) && fits(value as number | bigint), expected(what));
      return isLenient ? prepared(readNumber, schema) : schema;
    },
    toWire: (value) => value,
    fromWire: (wire) => shrink(wire as number | bigint),
  };
}

/** A value, or an explicit null. */
export function nullable<T>(type: WireType<T>): WireType<T | null> {
  return {
    ...(type as WireType<unknown>),
    schema: (isLenient) => nullableValue(type.schema(isLenient)),
    toWire: (value) => (value === null ? null : type.toWire(value)),
    fromWire: (wire) => (wire === null ? null : type.fromWire(wire)),
  } as WireType<T | null>;
}

/** Text that servers spell differently; `read` turns any value into one that is known. */
export function tolerant<T extends string>(read: (wire: unknown) => T): WireType<T> {
  return { schema: () => anyValue, toWire: (value) => value, fromWire: read };
}

function shrink(value: number | bigint): number | bigint {
  if (typeof value === 'number') return value;
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

function readFlag(value: unknown): unknown {
  if (value === 1 || value === 'true' || value === 'True') return true;
  if (value === 0 || value === 'false' || value === 'False') return false;
  return value;
}

/** A float without a fraction is read from JSON as an integer, and so as a bigint when it is large. */
function readFloat(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function readNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !NUMERIC_TEXT.test(value)) return value;
  const rounded = Number(value);
  return Number.isInteger(rounded) && !Number.isSafeInteger(rounded) && /^\s*[+-]?\d+\s*$/.test(value) ? BigInt(value.trim()) : rounded;
}

function isWithin(value: number, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds): boolean {
  return value >= min && value <= max;
}

function boundsText({ min, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` from ${min} up`;
  return max === undefined ? '' : ` up to ${max}`;
}
