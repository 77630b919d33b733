import { firstNonFinite, type Int64Array, isTypedArray } from '../tensor/numbers.js';

/** Number arrays that travel as JSON arrays: typed arrays are written as they are, without boxing. */
export type JsonNumberArray = Int32Array | Float32Array | Float64Array | Int64Array;

/** A JSON value as this package reads and writes it: integers beyond 2^53 are bigints, bulk numbers may be typed arrays. */
export type JsonValue = null | boolean | number | bigint | string | JsonNumberArray | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** How deeply free-form values may nest. */
export const MAX_JSON_DEPTH = 200;

/** Whether a value is a plain object, as in JSON: not an array, not an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm have another Object.prototype, which is the one whose own prototype is null.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Why a value cannot be JSON, or undefined if it can. Bounded in depth, so that it never overflows the stack. */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `holds ${value}, which JSON cannot carry`;
    case 'object':
      break;
    default:
      return `holds a ${typeof value}, which JSON cannot carry`;
  }
  if (value === null) return undefined;
  if (depth >= MAX_JSON_DEPTH) return `nests more than ${MAX_JSON_DEPTH} levels deep`;
  if (isTypedArray(value)) {
    const wrong = firstNonFinite(value);
    return wrong < 0 ? undefined : `holds ${value[wrong]}, which JSON cannot carry`;
  }
  if (Array.isArray(value)) return firstProblem(value, depth);
  if (!isPlainObject(value)) return 'holds an object that is neither plain nor an array; convert it first';
  // Undefined fields are not written.
  return firstProblem(
    Object.values(value).filter((entry) => entry !== undefined),
    depth,
  );
}

function firstProblem(values: readonly unknown[], depth: number): string | undefined {
  for (const value of values) {
    const problem = jsonProblem(value, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
