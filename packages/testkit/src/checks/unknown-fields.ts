import { ValidationError } from '@tinkex/types';

const UNKNOWN = /is not a known field/;

/** A copy of a JSON body without the fields that the error calls unknown; undefined when the error complains of anything else too. */
export function withoutUnknownFields(wire: unknown, error: unknown): unknown {
  if (!ValidationError.isInstance(error) || !error.issues.every(({ message }) => UNKNOWN.test(message))) return undefined;
  const copy: unknown = structuredClone(wire);
  for (const { path } of error.issues) {
    remove(
      copy,
      path.split(/[.[\]]+/).filter((part) => part !== ''),
    );
  }
  return copy;
}

function remove(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  if (rest.length === 0) {
    delete holder[name];
  } else {
    remove(holder[name], rest);
  }
}
