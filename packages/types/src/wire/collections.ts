import { expected } from '../errors/issue-text.js';
import { isPlainObject, type JsonObject, jsonProblem } from '../json/json-value.js';
import type { Bounds } from './scalars.js';
import { checkAt, listOf, placeIssues, type Schema } from './schema.js';
import type { WireType } from './wire-type.js';

/** A list of values. `min` and `max`: how many there must be at least and at most. */
export function list<T>(type: WireType<T>, { min = 0, max = Number.POSITIVE_INFINITY }: Bounds = {}): WireType<readonly T[]> {
  const atLeast = min > 0 ? ` of at least ${min}` : '';
  const what = max === Number.POSITIVE_INFINITY ? `a list${atLeast}` : `a list${atLeast} ${min > 0 ? 'and' : 'of'} at most ${max}`;
  return {
    schema: (isLenient) => listOf(type.schema(isLenient), expected(what), (length) => length >= min && length <= max),
    toWire: (values) => (Array.isArray(values) ? values.map((value: T, index) => placeIssues(index, () => type.toWire(value))) : values),
    fromWire: (wire) => (wire as unknown[]).map((value, index) => placeIssues(index, () => type.fromWire(value))),
    child: (key) => ({ name: key, type: type as unknown as WireType<never> }),
  };
}

/** Values by name. The names are data: they are never changed. */
export function mapOf<T>(type: WireType<T>): WireType<Readonly<Record<string, T>>> {
  return {
    schema: (isLenient) => entriesSchema(() => type.schema(isLenient)),
    toWire: (values) => (isPlainObject(values) ? mapEntries(values as Record<string, T>, type.toWire) : values),
    fromWire: (wire) => mapEntries(wire as Record<string, unknown>, type.fromWire) as Readonly<Record<string, T>>,
    child: (key) => ({ name: key, type: type as unknown as WireType<never> }),
  };
}

/** Any JSON object, kept as it is. */
export function jsonObject(): WireType<JsonObject> {
  const schema: Schema = (value, issues) => {
    const problem = isPlainObject(value) ? jsonProblem(value) : expected('an object')({ input: value });
    if (problem !== undefined) issues.push({ path: [], message: problem });
    return value;
  };
  return { schema: () => schema, toWire: (value) => value, fromWire: (wire) => wire as JsonObject };
}

/** `Object.fromEntries` makes `__proto__` a key like any other, where an assignment would change the prototype. */
function mapEntries<A, B>(values: Readonly<Record<string, A>>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, placeIssues(name, () => convert(value))]),
  );
}

/** Checks the values of an object, whatever their names. */
function entriesSchema(valueSchema: () => Schema): Schema {
  let schema: Schema | undefined;
  return (values, issues) => {
    if (!isPlainObject(values)) {
      issues.push({ path: [], message: expected('an object of named values')({ input: values }) });
      return values;
    }
    schema ??= valueSchema();
    const check = schema;
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, checkAt(name, check, value, issues)]));
  };
}
