import { expected } from '../errors/issue-text.js';
import { isPlainObject, type JsonObject } from '../json/json-value.js';
import { rememberUnknown, unknownFields } from './objects.js';
import type { FoundIssue, Schema } from './schema.js';
import type { WireType } from './wire-type.js';
import { wireName } from './wire-type.js';

/** The variants of a union, by the value of the field that distinguishes them. */
export type Variants<T, K extends keyof T> = {
  readonly [V in T[K] & string]: WireType<Omit<Extract<T, { readonly [Key in K]: V }>, K>>;
};

/** One of several objects, distinguished by a text field. Each variant is described without that field. */
export function union<T extends object, K extends keyof T & string>(discriminator: K, variants: Variants<T, K>): WireType<T> {
  const wireKey = wireName(discriminator);
  const types = variants as unknown as Readonly<Record<string, WireType<object>>>;

  const typeOf = (value: unknown, key: string): WireType<object> | undefined => {
    const name = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    return typeof name === 'string' && Object.hasOwn(types, name) ? types[name] : undefined;
  };

  const refuse = (wire: unknown, issues: FoundIssue[]): void => {
    if (typeof wire !== 'object' || wire === null) {
      issues.push({ path: [], message: expected('an object')({ input: wire }) });
      return;
    }
    const names = Object.keys(types).map((name) => `'${name}'`);
    const message = expected(`one of ${names.join(', ')}`)({ input: (wire as Record<string, unknown>)[wireKey] });
    issues.push({ path: [wireKey], message });
  };

  return {
    schema: (isLenient) => {
      const schemas = new Map<WireType<object>, Schema>();
      const schemaOf = (type: WireType<object>): Schema => {
        const schema = schemas.get(type) ?? type.schema(isLenient);
        schemas.set(type, schema);
        return schema;
      };
      return (wire, issues) => {
        const type = typeOf(wire, wireKey);
        if (type === undefined) {
          refuse(wire, issues);
          return wire;
        }
        const { [wireKey]: name, ...rest } = wire as Record<string, unknown>;
        return { [wireKey]: name, ...(schemaOf(type)(rest, issues) as object) };
      };
    },

    toWire(value) {
      const type = typeOf(value, discriminator);
      if (type === undefined) return value;
      const { [discriminator]: name, ...rest } = value;
      return { ...(type.toWire(rest) as object), [wireKey]: name };
    },

    fromWire(wire) {
      const { [wireKey]: name, ...rest } = wire as Record<string, unknown>;
      // The schema has let only known names through.
      const fields = (types[name as string] as WireType<object>).fromWire(rest);
      const value = { [discriminator]: name, ...fields };
      rememberUnknown(value, unknownFields(fields));
      return value as unknown as T;
    },

    child(key) {
      if (key === wireKey) return { name: discriminator };
      const found = Object.values(types).map((type) => type.child?.(key));
      return found.find((child) => child?.type !== undefined) ?? { name: key };
    },
  };
}

/** A kind that this version does not know. */
export interface OtherKind {
  readonly type: 'other';
  /** As it stands on the wire. */
  readonly raw: JsonObject;
}

/** How an {@link openUnion} reads what the server sends. */
export interface OpenUnionOptions {
  /** The kind of an object without the discriminator, by its fields. Default: unknown. */
  readonly guess?: ((wire: JsonObject) => string | undefined) | undefined;
}

/** A {@link union} that the server may extend. A new kind must not make the rest of the answer unreadable, so it is kept as it is. */
export function openUnion<T extends object, K extends keyof T & string>(
  discriminator: K,
  variants: Variants<T, K>,
  { guess }: OpenUnionOptions = {},
): WireType<T | OtherKind> {
  const known = union<T, K>(discriminator, variants);
  const wireKey = wireName(discriminator);
  const kindOf = (wire: JsonObject): string | undefined => {
    const kind = wire[wireKey];
    const named = typeof kind === 'string' ? kind : guess?.(wire);
    return named !== undefined && Object.hasOwn(variants, named) ? named : undefined;
  };
  return {
    ...(known as unknown as WireType<T | OtherKind>),
    schema: (isLenient) => {
      const inner = known.schema(isLenient);
      return (wire, issues) => {
        if (!isPlainObject(wire)) {
          issues.push({ path: [], message: expected('an object')({ input: wire }) });
          return wire;
        }
        const kind = kindOf(wire as JsonObject);
        return kind === undefined ? wire : inner({ ...wire, [wireKey]: kind }, issues);
      };
    },
    toWire: (value) => (isOtherKind(value) ? value.raw : known.toWire(value)),
    fromWire(wire) {
      const raw = wire as JsonObject;
      return kindOf(raw) === undefined ? { type: 'other', raw } : known.fromWire(raw);
    },
  };
}

function isOtherKind(value: object): value is OtherKind {
  return 'raw' in value && 'type' in value && value.type === 'other';
}
