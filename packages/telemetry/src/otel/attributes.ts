import { type Attributes, type HrTime, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import type { EventSource, HttpRequestEvent } from '@tinkex/types';
import { endpoints, redactText } from '@tinkex/types/wire';
import { safeText } from '../events/safe-text.js';

/** The provider's name in `gen_ai.*` attributes. */
export const PROVIDER_NAME = 'tinker';

const MAX_REMEMBERED_SERVERS = 1_000;
const SERVERS = new Map<string, Attributes>();

/** `server.address` and `server.port` of a base URL. Remembered: a process talks to few servers. */
export function serverAttributes(baseUrl: string): Attributes {
  const known = SERVERS.get(baseUrl);
  if (known !== undefined) return known;
  if (SERVERS.size >= MAX_REMEMBERED_SERVERS) SERVERS.clear();
  const attributes = parseServer(baseUrl);
  SERVERS.set(baseUrl, attributes);
  return attributes;
}

function parseServer(baseUrl: string): Attributes {
  // Anyone can publish an event: an invalid base URL must not cost the span.
  if (!URL.canParse(baseUrl)) return { 'server.address': safeText(baseUrl) };
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** The client and session that an event belongs to. */
export function sourceAttributes({ clientId, baseUrl, sessionId }: EventSource): Attributes {
  return { 'tinkex.client.id': clientId, 'session.id': sessionId, ...serverAttributes(baseUrl) };
}

const POLL_PATHS = [endpoints.retrieveFuture.path, endpoints.retrieveFutures.path];
/** The paths of the protocol that contain no ID, which are their own templates. */
const FIXED_PATHS: ReadonlySet<string> = new Set(
  Object.values(endpoints).flatMap(({ path }) => (typeof path === 'string' && !/[{:]/.test(path) ? [path] : [])),
);

/** The path without IDs, if it is known to have none. */
export function urlTemplate({ path }: HttpRequestEvent): string | undefined {
  return FIXED_PATHS.has(path) ? path : undefined;
}

/** Whether a request asks for the results of operations. */
export function isPoll(path: string): boolean {
  return POLL_PATHS.includes(path as (typeof POLL_PATHS)[number]);
}

/** What is known about an HTTP attempt when it starts. */
export function httpStartAttributes(event: HttpRequestEvent): Attributes {
  return {
    'http.request.method': event.method,
    'http.request.body.size': event.requestBytes,
    'http.request.resend_count': event.attempt === 0 ? undefined : event.attempt,
    'url.full': redactText(`${event.baseUrl.replace(/\/+$/, '')}/${event.path.replace(/^\/+/, '')}`, 500),
    'url.path': redactText(event.path, 500),
    'url.template': urlTemplate(event),
    'tinkex.request.type': safeText(event.requestType),
    'tinkex.pool': event.pool,
    ...sourceAttributes(event),
  };
}

/** `error.type` by the conventions: the error's code, or its name if it is not an SDK error, or an error status. `undefined` for a success. */
export function httpErrorType({ errorCode, errorName, status }: HttpRequestEvent): string | undefined {
  const thrown = errorCode ?? errorName;
  if (thrown !== undefined) return safeText(thrown);
  return status !== undefined && status >= 400 ? String(status) : undefined;
}

/** The status of a span that ended with this error, or without one. */
export function spanStatus(errorType: string | undefined): SpanStatus {
  return errorType === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: errorType };
}

/**
 * Milliseconds since the epoch as OpenTelemetry's pair. A plain number would be ambiguous: OpenTelemetry takes small numbers (an injected
 * clock that starts at 0) as time since the process began.
 */
export function spanTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1_000_000)];
}
