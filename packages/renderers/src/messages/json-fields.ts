import { ValidationError } from '@tinkex/types';
import { isPlainObject } from '../core/plain-object.js';

/** An object as it is read from JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether a field is left out or null, which mean the same. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** The fields of an object, or an error with its path. The other readers below are alike. */
export function objectAt(value: unknown, path: string): Json {
  if (isPlainObject(value)) return value;
  throw invalid(path, `must be an object, got ${describe(value)}`);
}

export function stringAt(value: unknown, path: string, problem = 'must be text'): string {
  if (typeof value === 'string') return value;
  throw invalid(path, `${problem}; got ${describe(value)}`);
}

export function booleanAt(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(path, `must be true or false; got ${describe(value)}`);
}

export function listAt<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T, problem = 'must be a list'): T[] {
  if (Array.isArray(value)) return value.map((item, index) => decode(item, `${path}[${index}]`));
  throw invalid(path, `${problem}; got ${describe(value)}`);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : value === undefined ? 'nothing' : typeof value;
}

/** The error for a field that is wrong. */
export function invalid(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'record', issues: [{ path, message: `${message}.` }] });
}
