import type { JsonValue } from '@tinkex/types';
import { stringifyJson } from '@tinkex/types/wire';
import { textFingerprint } from '../requests/fingerprint.js';
import type { RouteName } from '../routes/route-types.js';

/** Routes whose bodies describe the client or the moment: any body gets the recorded answer. */
const ANY_BODY: ReadonlySet<RouteName> = new Set<RouteName>([
  'authToken',
  'clientConfig',
  'clientDynamicConfig',
  'createSession',
  'sessionHeartbeat',
  'telemetry',
]);

/** What two requests must have in common to get the same recorded answer. */
export interface MatchedRequest {
  readonly route: RouteName | undefined;
  readonly method: string;
  readonly target: string;
  /** The decoded body, or the text or base64 of one that cannot be decoded. */
  readonly content: JsonValue | undefined;
}

/**
 * Equal for requests that get the same recorded answer: the same method, path and query, and the same body, however it is encoded.
 * The order of fields does not count.
 */
export function matchKey({ route, method, target, content }: MatchedRequest): string {
  const place = `${method} ${target}`;
  return content === undefined || (route !== undefined && ANY_BODY.has(route)) ? place : `${place} ${textFingerprint(canonical(content))}`;
}

function canonical(value: JsonValue): string {
  return stringifyJson(sorted(value));
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([name, entry]) => [name, entry === undefined ? undefined : sorted(entry)]));
}
