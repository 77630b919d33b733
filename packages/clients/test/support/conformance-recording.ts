import type { RecordedCall, RouteName } from '@tinkex/testkit';
import type { JsonValue } from '@tinkex/types';
import { type Codec, endpoints, stringifyJson } from '@tinkex/types/wire';

/** One request, reduced to what it means. Equal entries are equal to the service. */
export interface RecordedRequest {
  readonly route: RouteName;
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** Headers that the service reads; `present` where only the presence counts. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body in its JSON form, whatever it was encoded in. */
  readonly body?: JsonValue;
}

/** Asked once by us; the Python SDK asks again for each kind of client it makes. */
const ASKED_AGAIN: ReadonlySet<string> = new Set(['clientConfig', 'clientDynamicConfig']);
/** Sent when their time comes, not when the program says. */
const UNPLANNED: ReadonlySet<string> = new Set(['sessionHeartbeat', 'telemetry', 'healthz']);
const COMPARED = [
  'content-type',
  'content-encoding',
  'accept',
  'x-tinker-request-type',
  'x-tinker-request-iteration',
  'x-tinker-sampling-backpressure',
];
const PRESENT = ['x-idempotency-key', 'x-api-key', 'x-tinker-create-promise-roundtrip-time', 'x-stainless-retry-count'];

/**
 * The requests of a run, in an order that depends on their content alone. Of the polls of a promise only the first is kept: how often one must
 * ask depends on the machine.
 */
export function recordingOf(calls: readonly RecordedCall[]): RecordedRequest[] {
  const asked = new Set<string>();
  return calls
    .flatMap((call) => {
      const { route } = call;
      if (route === undefined || UNPLANNED.has(route)) return [];
      if (route === 'retrieveFuture' && call.headers['x-tinker-request-iteration'] !== '0') return [];
      if (ASKED_AGAIN.has(route) && asked.has(route)) return [];
      asked.add(route);
      return [requestOf(call, route)];
    })
    .map((request) => ({ request, key: JSON.stringify([request.route, request.path, request.body, request.headers]) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ request }) => request);
}

function requestOf(call: RecordedCall, route: RouteName): RecordedRequest {
  const headers: Record<string, string> = {};
  for (const name of COMPARED) if (call.headers[name] !== undefined) headers[name] = call.headers[name];
  // The preferred type decides. Ours names JSON as a second choice, for servers that know no protobuf.
  if (headers['accept'] !== undefined) headers['accept'] = headers['accept'].replace(/,.*/, '');
  for (const name of PRESENT) if (call.headers[name] !== undefined) headers[name] = 'present';
  const codec = (endpoints[route] as { readonly request?: Codec<unknown> }).request;
  const body =
    codec === undefined || call.request === undefined ? undefined : sorted(JSON.parse(stringifyJson(codec.encode(call.request))));
  return { route, method: call.method, path: call.path, headers, ...(body === undefined ? {} : { body }) };
}

/** The same value with the keys of its objects in order: maps have none on the wire. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each as JsonValue)]));
}

/** What one side sent and the other did not, or more often. Empty when both mean the same. */
export function recordingDifferences(
  python: readonly RecordedRequest[],
  typescript: readonly RecordedRequest[],
): { readonly onlyPython: RecordedRequest[]; readonly onlyTypeScript: RecordedRequest[] } {
  return { onlyPython: missingFrom(typescript, python), onlyTypeScript: missingFrom(python, typescript) };
}

function missingFrom(some: readonly RecordedRequest[], all: readonly RecordedRequest[]): RecordedRequest[] {
  const counts = new Map<string, number>();
  for (const request of some) counts.set(JSON.stringify(request), (counts.get(JSON.stringify(request)) ?? 0) + 1);
  return all.filter((request) => {
    const left = counts.get(JSON.stringify(request)) ?? 0;
    counts.set(JSON.stringify(request), left - 1);
    return left <= 0;
  });
}
