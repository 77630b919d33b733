import { invalidRequest } from '../errors/invalid.js';
import { fromInt64Array, isTypedArray } from '../tensor/numbers.js';
import { formatPath } from '../wire/messages.js';
import { isPlainObject, type JsonValue, MAX_JSON_DEPTH } from './json-value.js';

/**
 * A value as compact JSON text. Bigints are written as integers, typed arrays as arrays, undefined fields are left out. Throws a
 * `ValidationError` for NaN, infinities and anything else that JSON cannot carry.
 */
export function stringifyJson(value: JsonValue): string {
  const path: PropertyKey[] = [];
  const plain: { exact: boolean } = { exact: false };
  const tree = toPlain(value, path, plain);
  // Without integers beyond 2^53 the engine's own writer is the fastest there is.
  return plain.exact ? write(tree) : JSON.stringify(tree);
}

/**
 * The same value made of what `JSON.stringify` understands. Parts that already are so are not copied. Integers beyond 2^53 stay
 * bigints and are noted in `found`.
 */
function toPlain(value: unknown, path: PropertyKey[], found: { exact: boolean }): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw unwritable(path, `is ${value}, which JSON cannot carry`);
      return value;
    case 'bigint':
      return shrink(value, found);
    case 'object':
      break;
    default:
      throw unwritable(path, `is a ${typeof value}, which JSON cannot carry`);
  }
  if (value === null) return null;
  if (path.length >= MAX_JSON_DEPTH) throw unwritable(path, `nests more than ${MAX_JSON_DEPTH} levels deep`);
  if (Array.isArray(value)) return plainArray(value, path, found);
  if (isTypedArray(value)) return plainNumbers(value, path, found);
  if (!isPlainObject(value)) throw unwritable(path, 'is an object that is neither plain nor an array');
  return plainObject(value, path, found);
}

function plainArray(values: readonly unknown[], path: PropertyKey[], found: { exact: boolean }): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    path.push(index);
    const plain = toPlain(value, path, found);
    path.pop();
    if (plain === value) continue;
    copy ??= values.slice();
    copy[index] = plain;
  }
  return copy ?? values;
}

function plainObject(values: Record<string, unknown>, path: PropertyKey[], found: { exact: boolean }): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(values)) {
    const value = values[key];
    if (value === undefined) continue;
    path.push(key);
    const plain = toPlain(value, path, found);
    path.pop();
    if (plain === value) continue;
    copy ??= Object.fromEntries(Object.entries(values));
    if (key === '__proto__') Object.defineProperty(copy, key, { value: plain, enumerable: true, configurable: true, writable: true });
    else copy[key] = plain;
  }
  return copy ?? values;
}

function plainNumbers(values: ArrayLike<unknown>, path: PropertyKey[], found: { exact: boolean }): (number | bigint)[] {
  if (values instanceof BigInt64Array) {
    const numbers = fromInt64Array(values);
    found.exact ||= numbers.some((value) => typeof value === 'bigint');
    return numbers;
  }
  const numbers = Array.from(values as ArrayLike<number>);
  if (values instanceof Float32Array || values instanceof Float64Array) {
    for (let index = 0; index < numbers.length; index += 1) {
      if (!Number.isFinite(numbers[index])) throw unwritable([...path, index], `is ${numbers[index]}, which JSON cannot carry`);
    }
  }
  return numbers;
}

function shrink(value: bigint, found: { exact: boolean }): number | bigint {
  const rounded = Number(value);
  if (Number.isSafeInteger(rounded)) return rounded;
  found.exact = true;
  return value;
}

/** Writes a plain value that has bigints in it. */
function write(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const fields = Object.entries(value).filter(([, own]) => own !== undefined);
  return `{${fields.map(([key, own]) => `${JSON.stringify(key)}:${write(own)}`).join(',')}}`;
}

function unwritable(path: readonly PropertyKey[], message: string): Error {
  return invalidRequest('JSON', formatPath(path), message);
}
