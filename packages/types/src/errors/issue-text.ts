import { redactText } from '../redaction/redact-text.js';

const SHOWN_TEXT = 40;

/** The message of a schema: what is expected, and what was found instead. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? `is required: ${what}` : `must be ${what}, got ${describe(input)}`);
}

/** A value in a few words, without secrets. */
export function describe(value: unknown): string {
  if (value === null) return 'null (leave the field out instead)';
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'string':
      return value.length > SHOWN_TEXT ? `text of ${value.length} characters` : `'${redactText(value)}'`;
    case 'object':
      return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
    default:
      return typeof value;
  }
}

/** A step of a path that exists only on the wire and is not shown. */
export const HIDDEN: unique symbol = Symbol('hidden');

/** `['data', 0, 'a b']` → `data[0]["a b"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.filter((key) => key !== HIDDEN).reduce<string>((text, key) => joinPath(text, keyText(key)), '');
}

/** One step of a path: `.name`, `[0]` or `["a b"]`. */
export function keyText(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key);
  return /^[\w$-]+$/.test(name) ? name : `[${JSON.stringify(name)}]`;
}

/** Joins two parts of a path. */
export function joinPath(parent: string, rest: string): string {
  if (parent === '' || rest === '') return parent + rest;
  return rest.startsWith('[') ? parent + rest : `${parent}.${rest}`;
}
