import { ValidationError } from '@tinkex/types';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import type { RouteName } from '../routes/route-types.js';

/** What the codecs say about a field that they do not know. */
const UNKNOWN_FIELD = /is not a known field/;

/** Decodes a JSON value. A lenient server drops the fields that are newer than it, and notes them; a strict one refuses the value. */
export function decodeKnownFields<T>(
  wire: unknown,
  decode: (wire: unknown) => T,
  { isStrict, note }: { readonly isStrict: boolean; readonly note: (path: string) => void },
): T {
  try {
    return decode(wire);
  } catch (error) {
    if (isStrict || !ValidationError.isInstance(error) || !error.issues.every(({ message }) => UNKNOWN_FIELD.test(message))) throw error;
    const paths = error.issues.map(({ path }) => path);
    const decoded = decode(withoutFields(wire, paths));
    for (const path of paths) note(path);
    return decoded;
  }
}

/** Notes a field that the server does not know and ignores. */
export function noteUnknownField(recorder: Recorder, call: RecordedCall, route: RouteName, path: string): void {
  recorder.notice(call, `${route}: ${path.replaceAll(/\[\d+\]/g, '[]')} is not a known field and was ignored`);
}

function withoutFields(wire: unknown, paths: readonly string[]): unknown {
  const copy: unknown = structuredClone(wire);
  for (const path of paths) {
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
