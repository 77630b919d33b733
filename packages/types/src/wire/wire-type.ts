import type { Schema } from './schema.js';

/**
 * How one kind of value crosses the wire. `toWire` passes on what it does not understand: the schema checks
 * every value in both directions and alone reports what is wrong.
 */
export interface WireType<T> {
  /** The schema of the wire form. `isLenient`: numeric text counts as a number, as the reference reads responses. */
  readonly schema: (isLenient: boolean) => Schema;
  readonly toWire: (value: T) => unknown;
  readonly fromWire: (wire: unknown) => T;
  /** What a key of the wire form leads to, for naming places in messages. */
  readonly child?: ((key: PropertyKey) => { readonly name: PropertyKey; readonly type?: WireType<never> | undefined }) | undefined;
}

/** A field that is always present: given, or filled with its default. */
export interface DefaultedField<T> {
  readonly type: WireType<T>;
  readonly isOptional: false;
  readonly fallback: () => T;
  readonly allowsNull: boolean;
}

/** A field that may be left out. With a fallback it is still always written, and always present after reading. */
export interface OptionalField<T> {
  readonly type: WireType<T>;
  readonly isOptional: true;
  readonly fallback?: (() => T) | undefined;
  readonly aliases: readonly string[];
}

/** A field of an object, as the interface of the object demands it. */
export type RequiredField<T> = WireType<T> | DefaultedField<T>;

/** The fields an interface needs: exactly its own, each optional where the interface says so. The compiler proves the two equal. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? OptionalField<Exclude<T[K], undefined>> : RequiredField<T[K]>;
};

/** A field that may be left out. */
export function optional<T>(
  type: WireType<T>,
  options: { readonly fallback?: (() => T) | undefined; readonly aliases?: readonly string[] | undefined } = {},
): OptionalField<T> {
  return { type, isOptional: true, fallback: options.fallback, aliases: options.aliases ?? [] };
}

/** A field that is filled when it is missing. In responses null counts as missing, unless `allowsNull` is false. */
export function filled<T>(
  type: WireType<T>,
  fallback: () => T,
  options: { readonly allowsNull?: boolean | undefined } = {},
): DefaultedField<T> {
  return { type, isOptional: false, fallback, allowsNull: options.allowsNull ?? true };
}

/** `trainingRunId` → `training_run_id`: how a field of ours is called on the wire. */
export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `training_run_id` → `trainingRunId`: how a field of the wire is called here. */
export function domainName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
