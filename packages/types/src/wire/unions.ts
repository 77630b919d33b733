import { z } from 'zod';
import { expected } from './messages.js';
import { wireName } from './names.js';
import type { WireType } from './wire-type.js';

/** The variants of a union, by the value of the field that tells them apart. */
export type Variants<T, K extends keyof T> = {
  readonly [V in T[K] & string]: WireType<Omit<Extract<T, { readonly [Key in K]: V }>, K>>;
};

/**
 * One of several objects, told apart by a text field. Each variant is described without that field.
 */
export function union<T extends object, K extends keyof T & string>(discriminator: K, variants: Variants<T, K>): WireType<T> {
  const wireKey = wireName(discriminator);
  const types = variants as unknown as Readonly<Record<string, WireType<object>>>;
  const names = Object.keys(types);
  const typeOf = (value: unknown, key: string): WireType<object> | undefined => {
    const name = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    return typeof name === 'string' && Object.hasOwn(types, name) ? types[name] : undefined;
  };
  return {
    schema: (isLenient) => {
      const schemas = new Map<WireType<object>, z.ZodType>();
      return z.unknown().transform((wire, context) => {
        const type = typeOf(wire, wireKey);
        if (type === undefined) {
          const isObject = typeof wire === 'object' && wire !== null;
          const message = expected(isObject ? `one of ${names.map((name) => `'${name}'`).join(', ')}` : 'an object');
          const input = isObject ? (wire as Record<string, unknown>)[wireKey] : wire;
          context.addIssue({ code: 'custom', path: isObject ? [wireKey] : [], message: message({ input }) });
          return z.NEVER;
        }
        const schema = schemas.get(type) ?? type.schema(isLenient);
        schemas.set(type, schema);
        const { [wireKey]: name, ...rest } = wire as Record<string, unknown>;
        const result = schema.safeParse(rest);
        if (result.success) return { [wireKey]: name, ...(result.data as object) };
        for (const issue of result.error.issues) {
          const keys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
          if (keys === undefined) context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message });
          else
            for (const key of keys)
              context.addIssue({ code: 'custom', path: [...issue.path, key], message: 'is not a known field; remove it' });
        }
        return z.NEVER;
      });
    },
    toWire(value) {
      const type = typeOf(value, discriminator);
      if (type === undefined) return value;
      const { [discriminator]: name, ...rest } = value;
      return { ...(type.toWire(rest) as object), [wireKey]: name };
    },
    fromWire(wire) {
      const { [wireKey]: name, ...rest } = wire as Record<string, unknown>;
      const type = types[name as string] as WireType<object>;
      return { [discriminator]: name, ...type.fromWire(rest) } as unknown as T;
    },
    child(key) {
      if (key === wireKey) return { name: discriminator };
      const found = Object.values(types).map((type) => type.child?.(key));
      return found.find((child) => child?.type !== undefined) ?? { name: key };
    },
  };
}
