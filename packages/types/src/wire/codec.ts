import { formatPath } from '../errors/issue-text.js';
import { ValidationError, type ValidationIssue } from '../errors/validation-error.js';
import type { JsonObject } from '../json/json-value.js';
import type { FoundIssue, Schema, SchemaField } from './schema.js';
import type { WireType } from './wire-type.js';

/** How the bulk operations of the API travel: as protobuf messages, or as JSON for servers that only read that. */
export type WireFormat = 'protobuf' | 'json';

/**
 * Turns one kind of object into its wire form and back. The wire form is a JSON value with snake_case fields; write it with
 * `stringifyJson`, read it with `parseJson`.
 */
export interface Codec<T> {
  /** The name of the object, as the protocol calls it. */
  readonly name: string;
  /** The fields of the object on the wire. */
  readonly fields: Readonly<Record<string, Pick<SchemaField, 'isOptional'>>>;
  /** The wire form. Unset fields are left out, defaults are filled in. Throws a `ValidationError`. */
  readonly encode: (value: T) => JsonObject;
  /** The value. Throws a `ValidationError`. */
  readonly decode: (wire: unknown) => T;
}

/** A codec of any object. */
export interface AnyCodec {
  readonly name: string;
  readonly fields: Codec<never>['fields'];
  readonly encode: (value: never) => JsonObject;
  readonly decode: (wire: unknown) => unknown;
}

/** The type of the values a codec reads and writes. */
export type Infer<C> = C extends Codec<infer T> ? T : never;

/** How a codec treats what it reads. */
export interface CodecRules {
  readonly direction: 'request' | 'response';
  /** Numeric text counts as a number, and so on. */
  readonly isLenient: boolean;
}

/** Makes a codec of a wire type. */
export function codecOf<T>(name: string, type: WireType<T>, { direction, isLenient }: CodecRules): Codec<T> {
  let schema: Schema | undefined;
  const schemaOf = (): Schema => {
    schema ??= type.schema(isLenient);
    return schema;
  };
  const fail = (issues: readonly ValidationIssue[]): ValidationError => new ValidationError({ direction, subject: name, issues });
  const convert = <R>(work: () => R): R => {
    try {
      return work();
    } catch (error) {
      throw ValidationError.isInstance(error) ? fail(error.issues) : error;
    }
  };
  return {
    name,
    get fields() {
      return schemaOf().fields ?? {};
    },
    encode(value) {
      const wire = convert(() => type.toWire(value));
      const found: FoundIssue[] = [];
      schemaOf()(wire, found);
      if (found.length > 0) throw fail(issuesOf(found, (path) => domainPath(type as unknown as WireType<never>, path)));
      return wire as JsonObject;
    },
    decode(wire) {
      const found: FoundIssue[] = [];
      const read = schemaOf()(wire, found);
      if (found.length > 0) throw fail(issuesOf(found, (path) => path));
      return convert(() => type.fromWire(read));
    },
  };
}

function issuesOf(found: readonly FoundIssue[], name: (path: readonly PropertyKey[]) => readonly PropertyKey[]): ValidationIssue[] {
  return found.map(({ path, message }) => ({ path: formatPath(name(path)), message }));
}

/** A path of the wire form in the names that users write. */
function domainPath(type: WireType<never>, path: readonly PropertyKey[]): PropertyKey[] {
  const named: PropertyKey[] = [];
  let current: WireType<never> | undefined = type;
  for (const key of path) {
    const child: { readonly name: PropertyKey; readonly type?: WireType<never> | undefined } | undefined = current?.child?.(key);
    named.push(child?.name ?? key);
    current = child?.type;
  }
  return named;
}
