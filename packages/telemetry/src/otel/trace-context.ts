import { type Context, context, createContextKey, defaultTextMapSetter, propagation, type TextMapPropagator } from '@opentelemetry/api';
import type { Middleware } from '@tinkex/http';
import type { HttpRequestEvent } from '@tinkex/types';

/** Options of {@link traceContext}. */
export interface TraceContextOptions {
  /** Writes the headers. Default: the globally registered propagator, which OpenTelemetry's SDK sets to W3C trace context. */
  readonly propagator?: TextMapPropagator | undefined;
}

/**
 * A middleware that sends the trace context (`traceparent`, `tracestate`) with every attempt, so that the server's spans join the trace.
 * With {@link attachOpenTelemetry} the header names the span of the attempt, otherwise the span that is active at the call.
 * An existing header is left alone. Without this middleware no trace context is sent.
 *
 * An attempt that has a span is sent with tracing suppressed: instrumentations of undici and fetch would create a second span for it. Put
 * middleware that creates spans before this one.
 */
export function traceContext({ propagator }: TraceContextOptions = {}): Middleware {
  return (request, next) => {
    const attempt = takeAttempt(request.method, request.url);
    const send = attempt === undefined ? next : sendSuppressed(attempt, next);
    const sendContext = attempt ?? context.active();
    if (request.headers['traceparent'] !== undefined) return send(request);
    const injected: Record<string, string> = {};
    try {
      (propagator ?? propagation).inject(sendContext, injected, defaultTextMapSetter);
    } catch {
      // A broken propagator costs the trace header, never the request.
      return send(request);
    }
    return send({ ...request, headers: { ...request.headers, ...injected } });
  };
}

/** The key by which every part of OpenTelemetry recognizes suppressed tracing; `@opentelemetry/core` has it under the same description. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

function sendSuppressed(attempt: Context, next: Parameters<Middleware>[1]): Parameters<Middleware>[1] {
  return (request) => context.with(attempt.setValue(SUPPRESS_TRACING, true), () => next(request));
}

let announced: { readonly event: HttpRequestEvent; readonly context: Context } | undefined;
let isResetScheduled = false;

/**
 * Hands the context of an attempt's span to the middleware above. The start event is published just before the middleware runs, in the
 * same turn; the next microtask forgets the context, so that it never reaches another attempt.
 */
export function announceAttempt(event: HttpRequestEvent, spanContext: Context): void {
  announced = { event, context: spanContext };
  if (isResetScheduled) return;
  isResetScheduled = true;
  queueMicrotask(() => {
    isResetScheduled = false;
    announced = undefined;
  });
}

/** The context of the attempt that sends this request, if its span was created in this turn. Can be taken once. */
function takeAttempt(method: string, url: string): Context | undefined {
  const attempt = announced;
  announced = undefined;
  if (attempt === undefined || attempt.event.method !== method) return undefined;
  return url.startsWith(attempt.event.baseUrl) && url.includes(attempt.event.path) ? attempt.context : undefined;
}
