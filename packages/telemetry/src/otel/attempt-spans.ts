import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { HttpRequestEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { EventHandlers } from '../events/event-handlers.js';
import { safeText } from '../events/safe-text.js';
import { httpErrorType, httpStartAttributes, isPoll, spanStatus, spanTime, urlTemplate } from './attributes.js';
import { announceAttempt } from './trace-context.js';

/** A bound for publishers that never end their attempts: further attempts get no span. */
const MAX_OPEN_SPANS = 10_000;

/** Creates one span per HTTP attempt: a child of the span of its call, or of the context that is active when the attempt starts. */
export class AttemptSpans {
  readonly #tracer: Tracer;
  readonly #contextOfCall: (event: HttpRequestEvent) => Context | undefined;
  readonly #open = new Map<HttpRequestEvent, Span>();

  constructor(tracer: Tracer, contextOfCall: (event: HttpRequestEvent) => Context | undefined) {
    this.#tracer = tracer;
    this.#contextOfCall = contextOfCall;
  }

  get handlers(): EventHandlers {
    return {
      'tinkex:http:request:start': (event) => this.#start(event),
      'tinkex:http:request:stop': (event) => this.#end(event),
      'tinkex:http:request:exception': (event) => this.#end(event),
    };
  }

  /** Ends the spans of attempts that are still in flight, at their start time: nothing else is known. */
  endAll(): void {
    for (const [event, span] of this.#open) span.end(spanTime(event.startedAtMs));
    this.#open.clear();
  }

  #start(event: HttpRequestEvent): void {
    if (this.#open.size >= MAX_OPEN_SPANS) return;
    const parent = this.#contextOfCall(event) ?? context.active();
    const options = { kind: SpanKind.CLIENT, startTime: spanTime(event.startedAtMs), attributes: httpStartAttributes(event) };
    const span = this.#tracer.startSpan(spanName(event), options, parent);
    this.#open.set(event, span);
    announceAttempt(event, trace.setSpan(parent, span));
  }

  #end(event: HttpRequestEvent): void {
    const span = this.#open.get(event);
    if (span === undefined) return;
    this.#open.delete(event);
    const errorType = httpErrorType(event);
    if (event.status !== undefined) span.setAttribute('http.response.status_code', event.status);
    if (event.responseBytes !== undefined) span.setAttribute('http.response.body.size', event.responseBytes);
    if (event.requestId !== undefined) span.setAttribute('tinkex.request.id', redactText(event.requestId, 200));
    if (errorType !== undefined) span.setAttribute('error.type', errorType);
    span.setStatus(spanStatus(errorType));
    span.end(spanTime(event.startedAtMs + (event.durationMs ?? 0)));
  }
}

/**
 * Few distinct names, as the conventions demand. A poll is named after its path, or it would look like the request that submitted the operation. A call
 * without an operation name is named after its path by the client; that may contain IDs, so only the method is used.
 */
function spanName(event: HttpRequestEvent): string {
  const { method, requestType } = event;
  const template = urlTemplate(event);
  if (template !== undefined && isPoll(template)) return `${method} ${template}`;
  return requestType.startsWith(`${method} `) ? method : `${method} ${safeText(requestType)}`;
}
