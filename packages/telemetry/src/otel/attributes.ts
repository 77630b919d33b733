import { type Attributes, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import type { EventSource, HttpRequestEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import { safeText } from '../redaction/safe-text.js';

/** The server of a base URL, by the semantic conventions. */
export interface ServerAttributes {
  readonly 'server.address': string;
  readonly 'server.port'?: number;
}

const servers = new Map<string, ServerAttributes>();

/** `server.address` and `server.port` of a base URL. Remembered: a process talks to few servers. */
export function serverAttributes(baseUrl: string): ServerAttributes {
  const known = servers.get(baseUrl);
  if (known !== undefined) return known;
  if (servers.size >= 1_000) servers.clear();
  const made = parseServer(baseUrl);
  servers.set(baseUrl, made);
  return made;
}

function parseServer(baseUrl: string): ServerAttributes {
  try {
    const { hostname, port, protocol } = new URL(baseUrl);
    return { 'server.address': hostname, 'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
  } catch {
    // An event may come from elsewhere; a strange base URL must not cost the span.
    return { 'server.address': safeText(baseUrl) };
  }
}

/** Who an event is about. */
export function sourceAttributes(source: EventSource): Attributes {
  return {
    'tinkex.client.id': source.clientId,
    ...serverAttributes(source.baseUrl),
    ...(source.sessionId === undefined ? {} : { 'session.id': source.sessionId }),
  };
}

/** What is known of an HTTP attempt when it starts. */
export function httpStartAttributes(event: HttpRequestEvent): Attributes {
  return {
    'http.request.method': event.method,
    'http.request.body.size': event.requestBytes,
    'url.full': redactText(`${event.baseUrl.replace(/\/+$/, '')}/${event.path.replace(/^\/+/, '')}`, 500),
    'url.path': redactText(event.path, 500),
    'tinkex.request.type': safeText(event.requestType),
    'tinkex.pool': event.pool,
    ...sourceAttributes(event),
    ...(event.attempt === 0 ? {} : { 'http.request.resend_count': event.attempt }),
  };
}

/** `error.type` by the conventions: the status of an error answer, or the error's code, or its name if it is none of ours. `undefined` for a success. */
export function httpErrorType(event: HttpRequestEvent): string | undefined {
  const thrown = event.errorCode ?? event.errorName;
  if (thrown !== undefined) return safeText(thrown);
  return event.status !== undefined && event.status >= 400 ? String(event.status) : undefined;
}

/** The status of a span that ended with this error, or without one. */
export function spanStatus(errorType: string | undefined): SpanStatus {
  return errorType === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: errorType };
}
