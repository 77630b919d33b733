import { ValidationError } from '@tinkex/types';
import { type Codec, endpoints } from '@tinkex/types/wire';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import { refuse } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';

/** Decodes the query of a route that has one, or refuses it with 422. */
export function readQuery(recorder: Recorder, call: RecordedCall, route: RouteName, text: string): unknown {
  const { query } = endpoints[route] as { readonly query?: Codec<unknown> | undefined };
  if (query === undefined) return undefined;
  const given: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) given[name] = name in given ? `${given[name]},${value}` : value;
  try {
    return query.decode(given);
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    const detail = `${route}: ${error.message}`;
    recorder.violate(call, 'query-invalid', detail);
    refuse(422, detail);
  }
}
