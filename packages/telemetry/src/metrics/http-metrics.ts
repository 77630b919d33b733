import type { HttpRequestEvent } from '@tinkex/types';
import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import { BY_REQUEST_TYPE, BY_SERVER } from './labels.js';
import type { Registry } from './registry.js';

/** Metrics of HTTP attempts and the pauses between them. */
export function httpMetrics(registry: Registry): EventHandlers {
  const requests = registry.counter('tinkex_http_requests_total', 'HTTP attempts that were answered.', [
    ...BY_REQUEST_TYPE,
    'method',
    'status',
  ]);
  const errors = registry.counter('tinkex_http_errors_total', 'HTTP attempts that failed without an answer.', [...BY_REQUEST_TYPE, 'code']);
  const retries = registry.counter('tinkex_http_retries_total', 'HTTP attempts that were repeated.', BY_REQUEST_TYPE);
  const inFlight = registry.gauge('tinkex_http_requests_in_flight', 'HTTP attempts that have started and not ended.', BY_SERVER);
  const duration = registry.seconds('tinkex_http_request_duration_seconds', 'Time of an HTTP attempt, body included.', BY_REQUEST_TYPE);
  const requestSize = registry.bytes('tinkex_http_request_size_bytes', 'Size of request bodies as sent.', BY_REQUEST_TYPE);
  const responseSize = registry.bytes('tinkex_http_response_size_bytes', 'Size of response bodies, unpacked.', BY_REQUEST_TYPE);
  const retryDelay = registry.seconds('tinkex_http_retry_delay_seconds', 'Pause before an HTTP attempt is repeated.', BY_REQUEST_TYPE);
  // An attempt that had started before this consumer was attached must not be subtracted when it ends. Each that starts also ends, so
  // nothing stays in here.
  const started = new Set<HttpRequestEvent>();

  const ended = (event: HttpRequestEvent, baseUrl: string, requestType: string): void => {
    if (started.delete(event)) inFlight.with(baseUrl).add(-1);
    if (event.durationMs !== undefined) duration.with(baseUrl, requestType).record(event.durationMs / 1_000);
    requestSize.with(baseUrl, requestType).record(event.requestBytes);
  };
  return {
    'tinkex:http:request:start': (event) => {
      started.add(event);
      inFlight.with(safeText(event.baseUrl)).add(1);
    },
    'tinkex:http:request:stop': (event) => {
      const baseUrl = safeText(event.baseUrl);
      const requestType = safeText(event.requestType);
      ended(event, baseUrl, requestType);
      requests.with(baseUrl, requestType, event.method, String(event.status ?? 'unknown')).add(1);
      if (event.responseBytes !== undefined) responseSize.with(baseUrl, requestType).record(event.responseBytes);
    },
    'tinkex:http:request:exception': (event) => {
      const baseUrl = safeText(event.baseUrl);
      const requestType = safeText(event.requestType);
      ended(event, baseUrl, requestType);
      errors.with(baseUrl, requestType, safeText(event.errorCode ?? 'unknown')).add(1);
    },
    'tinkex:http:request:retry': (event) => {
      const baseUrl = safeText(event.baseUrl);
      const requestType = safeText(event.requestType);
      retries.with(baseUrl, requestType).add(1);
      retryDelay.with(baseUrl, requestType).record(event.delayMs / 1_000);
    },
  };
}
