import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { HttpRequestEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import { httpErrorType, httpStartAttributes, spanStatus } from './attributes.js';
import { announceAttempt } from './current-attempt.js';
import { spanTime } from './span-time.js';

/** Spans beyond this many at once are not made: a bound for a publisher that never ends its attempts. */
const maxOpenSpans = 10_000;

/** Makes a span of each HTTP attempt, a child of the context that is active when the attempt starts. */
export class AttemptSpans {
  readonly #tracer: Tracer;
  readonly #open = new Map<HttpRequestEvent, Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  get handlers(): EventHandlers {
    return {
      'tinkex:http:request:start': (event) => this.#start(event),
      'tinkex:http:request:stop': (event) => this.#end(event),
      'tinkex:http:request:exception': (event) => this.#end(event),
    };
  }

  /** Ends the spans of attempts that are still under way, at the time they started: nothing more is known. */
  endAll(): void {
    for (const [event, span] of this.#open) span.end(spanTime(event.startedAtMs));
    this.#open.clear();
  }

  #start(event: HttpRequestEvent): void {
    if (this.#open.size >= maxOpenSpans) return;
    const parent: Context = context.active();
    const span = this.#tracer.startSpan(
      spanName(event),
      { kind: SpanKind.CLIENT, startTime: spanTime(event.startedAtMs), attributes: httpStartAttributes(event) },
      parent,
    );
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

/** Few different names, as the conventions ask: a call without an operation's name is called after its path, which may hold ids. */
function spanName({ method, requestType }: HttpRequestEvent): string {
  return requestType.startsWith(`${method} `) ? method : `${method} ${safeText(requestType)}`;
}
