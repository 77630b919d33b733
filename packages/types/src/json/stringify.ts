import { formatPath } from '../errors/issue-text.js';
import { invalidRequest } from '../errors/validation-error.js';
import { firstNonFinite, isTypedArray } from '../tensor/numbers.js';
import { isPlainObject, type JsonValue, MAX_JSON_DEPTH } from './json-value.js';
import { JsonWriter } from './writer.js';

/**
 * A value as compact JSON text. Bigints are written as integers, typed arrays as arrays, undefined fields are left out. Throws a
 * `ValidationError` for NaN, infinities and anything else that JSON cannot carry.
 */
export function stringifyJson(value: JsonValue): string {
  // Without typed arrays and bigints the engine's writer is the fastest.
  return needsWriter(value, []) ? new JsonWriter().write(value) : JSON.stringify(value);
}

/** Whether a value holds something that `JSON.stringify` would not write as it should. Throws where JSON has no way to write it. */
function needsWriter(value: unknown, path: PropertyKey[]): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return false;
    case 'number':
      if (!Number.isFinite(value)) throw unwritable(path, `is ${value}, which JSON cannot carry`);
      return false;
    case 'bigint':
      return true;
    case 'object':
      return value !== null && objectNeedsWriter(value, path);
    default:
      throw unwritable(path, `is a ${typeof value}, which JSON cannot carry`);
  }
}

function objectNeedsWriter(value: object, path: PropertyKey[]): boolean {
  if (path.length >= MAX_JSON_DEPTH) throw unwritable(path, `nests more than ${MAX_JSON_DEPTH} levels deep`);
  let isNeeded = false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) isNeeded = entryNeedsWriter(value[index], index, path) || isNeeded;
    return isNeeded;
  }
  if (isPlainObject(value)) {
    for (const key of Object.keys(value)) if (value[key] !== undefined) isNeeded = entryNeedsWriter(value[key], key, path) || isNeeded;
    return isNeeded;
  }
  if (!isTypedArray(value)) throw unwritable(path, 'is an object that is neither plain nor an array');
  const wrong = firstNonFinite(value);
  if (wrong >= 0) throw unwritable([...path, wrong], `is ${value[wrong]}, which JSON cannot carry`);
  return true;
}

function entryNeedsWriter(value: unknown, key: PropertyKey, path: PropertyKey[]): boolean {
  if (typeof value === 'number' && Number.isFinite(value)) return false;
  path.push(key);
  const isNeeded = needsWriter(value, path);
  path.pop();
  return isNeeded;
}

function unwritable(path: readonly PropertyKey[], message: string): Error {
  return invalidRequest('JSON', formatPath(path), message);
}
