import { ValidationError } from '@tinkex/types';
import { type Codec, endpoints } from '@tinkex/types/wire';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import { refuse } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import { decodeKnownFields, noteUnknownField } from './unknown-fields.js';

/** A query to read, and what decides how. */
export interface QueryInput {
  readonly recorder: Recorder;
  readonly call: RecordedCall;
  /** Refuses undocumented parameters instead of noting and dropping them. */
  readonly isStrict: boolean;
  readonly route: RouteName;
  readonly text: string;
}

/** Decodes the query of a route that has one, or refuses it with 422. */
export function readQuery({ recorder, call, isStrict, route, text }: QueryInput): unknown {
  const { query } = endpoints[route] as { readonly query?: Codec<unknown> | undefined };
  if (query === undefined) return undefined;
  const given: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) given[name] = name in given ? `${given[name]},${value}` : value;
  try {
    return decodeKnownFields(given, query.decode, { isStrict, note: (path) => noteUnknownField(recorder, call, route, path) });
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    const detail = `${route}: ${error.message}`;
    recorder.violate(call, 'query-invalid', detail);
    refuse(422, detail);
  }
}
