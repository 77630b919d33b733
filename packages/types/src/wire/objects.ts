import { expected } from '../errors/issue-text.js';
import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import type { JsonObject } from '../json/json-value.js';
import { withPlainJson } from '../json/plain-json.js';
import { type Codec, codecOf } from './codec.js';
import { literal, nullishValue, objectOf, optionalValue, placeIssues, type SchemaField } from './schema.js';
import type { DefaultedField, FieldsOf, OptionalField, WireType } from './wire-type.js';
import { domainName, wireName } from './wire-type.js';

/** What is special about an object. */
export interface ObjectOptions<T> {
  /** The value of its `type` field: always written, optional when read, and then it must match. */
  readonly tag?: string | undefined;
  /** Whether `JSON.stringify` of a value that was read writes its typed arrays as lists. */
  readonly isPlainJson?: boolean | undefined;
  /** Says what is wrong between fields, by the name of the field to blame. Sees values in our names, after their own checks. */
  readonly check?: (value: T) => { readonly field: keyof T & string; readonly message: string } | undefined;
}

interface ObjectRules {
  /** Whether unknown fields are refused or set aside. */
  readonly isClosed: boolean;
  /** Whether null counts as missing. */
  readonly nullIsMissing: boolean;
}

interface Field {
  readonly name: string;
  readonly wire: string;
  readonly type: WireType<unknown>;
  readonly isRequired: boolean;
  readonly allowsNull: boolean;
  readonly fallback: (() => unknown) | undefined;
  readonly aliases: readonly string[];
}

/** The wire type of an object the client sends: unknown names are refused in both directions. */
export function requestType<T extends object>(fields: FieldsOf<T>, options: ObjectOptions<T> = {}): WireType<T> {
  return objectType(fields, options, { isClosed: true, nullIsMissing: false });
}

/** The wire type of an object the server sends: unknown fields are kept aside, null counts as missing. */
export function responseType<T extends object>(fields: FieldsOf<T>, options: ObjectOptions<T> = {}): WireType<T> {
  return objectType(fields, options, { isClosed: false, nullIsMissing: true });
}

/** The codec of an object the client sends. */
export function requestObject<T extends object>(name: string, fields: FieldsOf<T>, options: ObjectOptions<T> = {}): Codec<T> {
  return codecOf(name, requestType(fields, options), { direction: 'request', isLenient: false });
}

/** The codec of an object the server sends. */
export function responseObject<T extends object>(name: string, fields: FieldsOf<T>, options: ObjectOptions<T> = {}): Codec<T> {
  return codecOf(name, responseType(fields, options), { direction: 'response', isLenient: true });
}

/** The codec of the query of a URL: a request whose values may arrive as text. */
export function queryObject<T extends object>(name: string, fields: FieldsOf<T>, options: ObjectOptions<T> = {}): Codec<T> {
  return codecOf(name, requestType(fields, options), { direction: 'request', isLenient: true });
}

function objectType<T extends object>(given: FieldsOf<T>, { tag, isPlainJson, check }: ObjectOptions<T>, rules: ObjectRules): WireType<T> {
  const fields = Object.entries<unknown>(given).map(([name, field]) => fieldOf(name, field as AnyField, rules));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const byWire = new Map(fields.flatMap((field) => [field.wire, ...field.aliases].map((wire) => [wire, field] as const)));

  return {
    schema: (isLenient) => {
      const shape: Record<string, SchemaField> = {};
      for (const field of fields) {
        const schema = field.type.schema(isLenient);
        const wrapped = field.isRequired ? schema : field.allowsNull ? nullishValue(schema) : optionalValue(schema);
        for (const wire of [field.wire, ...field.aliases]) shape[wire] = { schema: wrapped, isOptional: !field.isRequired };
      }
      if (tag !== undefined) {
        const wanted = literal(tag, expected(`'${tag}'`));
        shape['type'] = { schema: rules.nullIsMissing ? nullishValue(wanted) : optionalValue(wanted), isOptional: true };
      }
      return objectOf(shape, rules.isClosed);
    },

    toWire(value) {
      if (typeof value !== 'object' || value === null) return value;
      if (rules.isClosed) refuseUnknown(value, byName);
      const wire: Record<string, unknown> = {};
      for (const field of fields) {
        const own = (value as Record<string, unknown>)[field.name];
        const filled = own === undefined ? field.fallback?.() : own;
        if (filled === undefined) continue;
        wire[field.wire] = placeIssues(field.name, () => field.type.toWire(filled));
      }
      if (tag !== undefined) wire.type = tag;
      const problem = isComplete(fields, wire) ? check?.(value) : undefined;
      if (problem !== undefined) throw invalidRequest('', problem.field, problem.message);
      return wire;
    },

    fromWire(wire) {
      const value: Record<string, unknown> = {};
      const object = wire as Record<string, unknown>;
      for (const field of fields) {
        const given = readField(object, field);
        const read = given === undefined ? field.fallback?.() : placeIssues(field.wire, () => field.type.fromWire(given));
        if (read !== undefined) value[field.name] = read;
      }
      const problem = check?.(value as T);
      if (problem !== undefined) throw invalidRequest('', wireName(problem.field), problem.message);
      if (!rules.isClosed) {
        const extra = Object.entries(object).filter(
          ([key, own]) => own !== undefined && !byWire.has(key) && !(key === 'type' && tag !== undefined),
        );
        if (extra.length > 0) rememberUnknown(value, Object.fromEntries(extra) as JsonObject);
      }
      return (isPlainJson ? withPlainJson(value) : value) as T;
    },

    child: (key) => {
      const field = byWire.get(String(key));
      return field === undefined ? { name: key } : { name: field.name, type: field.type as unknown as WireType<never> };
    },
  };
}

type AnyField = WireType<unknown> | DefaultedField<unknown> | OptionalField<unknown>;

function fieldOf(name: string, field: AnyField, { nullIsMissing }: ObjectRules): Field {
  const wire = wireName(name);
  if (!('isOptional' in field)) {
    return { name, wire, type: field, isRequired: true, allowsNull: false, fallback: undefined, aliases: [] };
  }
  return {
    name,
    wire,
    type: field.type,
    isRequired: false,
    allowsNull: nullIsMissing && (field.isOptional || field.allowsNull),
    fallback: field.fallback,
    aliases: field.isOptional ? field.aliases : [],
  };
}

/** The value of a field, under its name or an alias; undefined when it is missing or null stands for that. */
function readField(object: Record<string, unknown>, field: Field): unknown {
  for (const wire of [field.wire, ...field.aliases]) {
    const value = object[wire];
    if (value !== undefined && !(value === null && field.allowsNull)) return value;
  }
  return undefined;
}

function isComplete(fields: readonly Field[], wire: Record<string, unknown>): boolean {
  return fields.every((field) => !field.isRequired || wire[field.wire] !== undefined);
}

function refuseUnknown(value: object, known: ReadonlyMap<string, Field>): void {
  const unknown = Object.entries(value).filter(([key, own]) => own !== undefined && !known.has(key));
  if (unknown.length === 0) return;
  const names = [...known.keys()].join(', ');
  const issues = unknown.map(([key]) => {
    const meant = domainName(key);
    const fix = known.has(meant) ? `write ${meant} instead` : `remove it (known: ${names})`;
    return { path: key, message: `is not a known option; ${fix}` };
  });
  throw new ValidationError({ direction: 'request', issues });
}

const UNKNOWN = new WeakMap<object, JsonObject>();
const NONE: JsonObject = Object.freeze({});

/** Remembers the unknown fields of an object of the server. */
export function rememberUnknown(value: object, fields: JsonObject): void {
  if (fields !== NONE) UNKNOWN.set(value, fields);
}

/**
 * The fields of a decoded response object that this version of the package does not know, as they were on the wire. Empty if
 * there were none. Works only for the decoded object itself, not for copies.
 */
export function unknownFields(value: object): JsonObject {
  return UNKNOWN.get(value) ?? NONE;
}
