import { context, defaultTextMapSetter, propagation, type TextMapPropagator } from '@opentelemetry/api';
import type { Middleware } from '@tinkex/http';
import { takeAttempt } from './current-attempt.js';

/** Options of {@link traceContext}. */
export interface TraceContextOptions {
  /** Writes the headers. Default: the globally registered propagator, which OpenTelemetry's SDK sets to W3C trace context. */
  readonly propagator?: TextMapPropagator;
}

/**
 * A middleware that sends the trace context (`traceparent`, `tracestate`) with every attempt, so that the server's spans join the trace.
 * With {@link attachOpenTelemetry} the header names the attempt's own span, otherwise the span that is active where the call was made.
 * A header that is already there is left alone. Nothing is sent unless this middleware is used.
 */
export function traceContext(options: TraceContextOptions = {}): Middleware {
  return (request, next) => {
    const sendContext = takeAttempt(request.method, request.url) ?? context.active();
    if (hasHeader(request.headers, 'traceparent')) return next(request);
    const injected: Record<string, string> = {};
    try {
      (options.propagator ?? propagation).inject(sendContext, injected, defaultTextMapSetter);
    } catch {
      // A broken propagator costs the trace header, never the request.
      return next(request);
    }
    return next({ ...request, headers: { ...request.headers, ...injected } });
  };
}

function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return headers[name] !== undefined;
}
