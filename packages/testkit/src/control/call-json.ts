import type { JsonObject, JsonValue } from '@tinkex/types';
import { type Codec, endpoints } from '@tinkex/types/wire';
import type { RecordedCall } from '../recorder/recorded-call.js';

/** A recorded call as the control API shows it, its body in the names of the wire. */
export function callJson(call: RecordedCall): JsonObject {
  const { index, route, method, path, headers, tenant, scope, requestId, status, requestBytes, replyBytes, fault } = call;
  return {
    index,
    route,
    method,
    path,
    headers,
    tenant,
    scope,
    requestId,
    status,
    requestBytes,
    replyBytes,
    fault,
    arrivedAtMs: call.arrivedAtMs,
    repliedAtMs: call.repliedAtMs,
    request: bodyOf(call),
    violations: call.violations.map(({ rule, detail, url }) => ({ rule, detail, url })),
  };
}

function bodyOf({ route, request }: RecordedCall): JsonValue | undefined {
  if (route === undefined || request === undefined) return undefined;
  return (endpoints[route] as { readonly request?: Codec<unknown> }).request?.encode(request);
}
