import { z } from 'zod';
import { expected } from '../errors/issue-text.js';
import { isPlainObject, type JsonObject, jsonProblem } from '../json/json-value.js';
import { placeIssues, reportBelow } from './issues.js';
import type { Bounds } from './scalars.js';
import type { WireType } from './wire-type.js';

/** A list of values. `min` and `max`: how many there must be at least and at most. */
export function list<T>(type: WireType<T>, { min = 0, max = Number.POSITIVE_INFINITY }: Bounds = {}): WireType<readonly T[]> {
  const atLeast = min > 0 ? ` of at least ${min}` : '';
  const what = max === Number.POSITIVE_INFINITY ? `a list${atLeast}` : `a list${atLeast} ${min > 0 ? 'and' : 'of'} at most ${max}`;
  return {
    schema: (isLenient) => {
      let schema = z.array(type.schema(isLenient), { error: expected(what) });
      if (min > 0) schema = schema.min(min, { error: expected(what) });
      return max === Number.POSITIVE_INFINITY ? schema : schema.max(max, { error: expected(what) });
    },
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
  const schema = z.custom<JsonObject>(isPlainObject, { error: expected('an object') }).superRefine((value, context) => {
    const problem = jsonProblem(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
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

/** A record schema that keeps a key called `__proto__`, which zod's own drops. */
function entriesSchema(valueSchema: () => z.ZodType): z.ZodType {
  let schema: z.ZodType | undefined;
  return z.custom<Record<string, unknown>>(isPlainObject, { error: expected('an object of named values') }).transform((values, context) => {
    schema ??= valueSchema();
    const parsed: [string, unknown][] = [];
    for (const [name, value] of Object.entries(values)) {
      const result = schema.safeParse(value);
      if (result.success) parsed.push([name, result.data]);
      else reportBelow([name], result.error, context);
    }
    return Object.fromEntries(parsed);
  });
}
