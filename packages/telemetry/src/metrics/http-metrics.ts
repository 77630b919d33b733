import type { HttpRequestEvent } from '@tinkex/types';
import type { EventHandlers } from '../events/event-handlers.js';
import { BY_REQUEST_TYPE, BY_SERVER, type Registry } from './registry.js';

/** Metrics of HTTP attempts and the delays between them. */
export function httpMetrics(registry: Registry): EventHandlers {
  const byStatus = [...BY_REQUEST_TYPE, 'method', 'status'] as const;
  const byCode = [...BY_REQUEST_TYPE, 'code'] as const;
  const requests = registry.counter('tinkex_http_requests_total', 'HTTP attempts that were answered.', byStatus);
  const errors = registry.counter('tinkex_http_errors_total', 'HTTP attempts that failed without an answer.', byCode);
  const retries = registry.counter('tinkex_http_retries_total', 'HTTP attempts that were repeated.', BY_REQUEST_TYPE);
  const inFlight = registry.gauge('tinkex_http_requests_in_flight', 'HTTP attempts that have started and not ended.', BY_SERVER);
  const duration = registry.seconds('tinkex_http_request_duration_seconds', 'Time of an HTTP attempt, body included.', BY_REQUEST_TYPE);
  const requestSize = registry.bytes('tinkex_http_request_size_bytes', 'Size of request bodies as sent.', BY_REQUEST_TYPE);
  const responseSize = registry.bytes('tinkex_http_response_size_bytes', 'Size of response bodies, decompressed.', BY_REQUEST_TYPE);
  const retryDelay = registry.seconds('tinkex_http_retry_delay_seconds', 'Delay before an HTTP attempt is repeated.', BY_REQUEST_TYPE);
  // An attempt that started before this consumer was attached must not be subtracted when it ends. Every attempt that starts also ends, so
  // nothing stays in here.
  const started = new Set<HttpRequestEvent>();

  const recordEnd = (event: HttpRequestEvent): void => {
    const { baseUrl, requestType, durationMs } = event;
    if (started.delete(event)) inFlight.with(baseUrl).add(-1);
    if (durationMs !== undefined) duration.with(baseUrl, requestType).record(durationMs / 1_000);
    requestSize.with(baseUrl, requestType).record(event.requestBytes);
  };
  return {
    'tinkex:http:request:start': (event) => {
      started.add(event);
      inFlight.with(event.baseUrl).add(1);
    },
    'tinkex:http:request:stop': (event) => {
      const { baseUrl, requestType, method, status, responseBytes } = event;
      recordEnd(event);
      requests.with(baseUrl, requestType, method, String(status ?? 'unknown')).add(1);
      if (responseBytes !== undefined) responseSize.with(baseUrl, requestType).record(responseBytes);
    },
    'tinkex:http:request:exception': (event) => {
      recordEnd(event);
      errors.with(event.baseUrl, event.requestType, event.errorCode ?? 'unknown').add(1);
    },
    'tinkex:http:request:retry': ({ baseUrl, requestType, delayMs }) => {
      retries.with(baseUrl, requestType).add(1);
      retryDelay.with(baseUrl, requestType).record(delayMs / 1_000);
    },
  };
}
