import type { HttpRequestEvent } from '@tinkex/types';
import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import type { Registry } from './registry.js';

/** Metrics of HTTP attempts and the pauses between them. */
export function httpMetrics(registry: Registry): EventHandlers {
  const requests = registry.counter('tinkex_http_requests_total', 'HTTP attempts that were answered.');
  const errors = registry.counter('tinkex_http_errors_total', 'HTTP attempts that failed without an answer.');
  const retries = registry.counter('tinkex_http_retries_total', 'HTTP attempts that were repeated.');
  const inFlight = registry.gauge('tinkex_http_requests_in_flight', 'HTTP attempts that have started and not ended.');
  const duration = registry.seconds('tinkex_http_request_duration_seconds', 'Time of an HTTP attempt, body included.');
  const requestSize = registry.bytes('tinkex_http_request_size_bytes', 'Size of request bodies as sent.');
  const responseSize = registry.bytes('tinkex_http_response_size_bytes', 'Size of response bodies as received.');
  const retryDelay = registry.seconds('tinkex_http_retry_delay_seconds', 'Pause before an HTTP attempt is repeated.');
  // An attempt that had started before this consumer was attached must not be subtracted when it ends. Each that starts also ends, so
  // nothing stays in here.
  const started = new Set<HttpRequestEvent>();

  const ended = (event: HttpRequestEvent, baseUrl: string): void => {
    if (started.delete(event)) inFlight.with({ base_url: baseUrl }).add(-1);
    const labels = { base_url: baseUrl, request_type: safeText(event.requestType) };
    if (event.durationMs !== undefined) duration.with(labels).record(event.durationMs / 1_000);
    requestSize.with(labels).record(event.requestBytes);
  };
  return {
    'tinkex:http:request:start': (event) => {
      started.add(event);
      inFlight.with({ base_url: safeText(event.baseUrl) }).add(1);
    },
    'tinkex:http:request:stop': (event) => {
      const baseUrl = safeText(event.baseUrl);
      ended(event, baseUrl);
      requests
        .with({
          base_url: baseUrl,
          request_type: safeText(event.requestType),
          method: event.method,
          status: String(event.status ?? 'unknown'),
        })
        .add(1);
      if (event.responseBytes !== undefined) {
        responseSize.with({ base_url: baseUrl, request_type: safeText(event.requestType) }).record(event.responseBytes);
      }
    },
    'tinkex:http:request:exception': (event) => {
      const baseUrl = safeText(event.baseUrl);
      ended(event, baseUrl);
      errors.with({ base_url: baseUrl, request_type: safeText(event.requestType), code: safeText(event.errorCode ?? 'unknown') }).add(1);
    },
    'tinkex:http:request:retry': (event) => {
      const labels = { base_url: safeText(event.baseUrl), request_type: safeText(event.requestType) };
      retries.with(labels).add(1);
      retryDelay.with(labels).record(event.delayMs / 1_000);
    },
  };
}
