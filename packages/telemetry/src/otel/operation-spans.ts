import { type Attributes, type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { EventSource, FutureSettledEvent, FutureStartEvent, SamplingCallEvent, TrainingOperationEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { EventHandlers } from '../events/event-handlers.js';
import { safeText } from '../events/safe-text.js';
import { PROVIDER_NAME, sourceAttributes, spanStatus, spanTime } from './attributes.js';
import { GEN_AI_OPERATION, type GenAiConventions, samplingAttributes, samplingSpanName } from './gen-ai.js';

/** What operation spans need. */
export interface OperationSpanOptions {
  readonly tracer: Tracer;
  readonly conventions: GenAiConventions;
  readonly includeContent: boolean;
}

/** A bound for calls that never end: further calls get no span. */
const MAX_OPEN_SPANS = 100_000;
const MAX_METRIC_ATTRIBUTES = 50;

interface OpenSpan {
  readonly span: Span;
  /** The caller's context with the span in it. */
  readonly context: Context;
  readonly startedAtMs: number;
}

/**
 * Creates one span per call that returns a future, a child of the context that is active at the call. It is open from the call to the end of
 * its future, so that the HTTP attempts of the call become its children.
 */
export class OperationSpans {
  readonly #options: OperationSpanOptions;
  readonly #open = new Map<string, OpenSpan>();

  constructor(options: OperationSpanOptions) {
    this.#options = options;
  }

  get handlers(): EventHandlers {
    return {
      'tinkex:future:start': (event) => this.#start(event),
      'tinkex:training:operation': (event) => this.#find(event)?.span.setAttributes(trainingAttributes(event)),
      'tinkex:sampling:call': (event) => this.#describeSample(event),
      'tinkex:future:settled': (event) => this.#end(event),
    };
  }

  /** The context with the span of the call that an event belongs to, while that span is open. */
  contextOf(event: CallReference): Context | undefined {
    return this.#find(event)?.context;
  }

  /** Ends the spans of calls that are still in progress, at their start time: nothing else is known. */
  endAll(): void {
    for (const { span, startedAtMs } of this.#open.values()) span.end(spanTime(startedAtMs));
    this.#open.clear();
  }

  #find(event: CallReference): OpenSpan | undefined {
    return event.callId === undefined ? undefined : this.#open.get(keyOf(event));
  }

  #start(event: FutureStartEvent): void {
    if (this.#open.size >= MAX_OPEN_SPANS) return;
    const { requestType, startedAtMs } = event;
    const name = requestType === 'Sample' ? GEN_AI_OPERATION : `training ${safeText(requestType)}`;
    const attributes = { 'gen_ai.provider.name': PROVIDER_NAME, 'tinkex.request.type': safeText(requestType), ...sourceAttributes(event) };
    const parent = context.active();
    const span = this.#options.tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: spanTime(startedAtMs), attributes }, parent);
    this.#open.set(keyOf(event), { span, context: trace.setSpan(parent, span), startedAtMs });
  }

  #describeSample(event: SamplingCallEvent): void {
    const { conventions, includeContent } = this.#options;
    const span = this.#find(event)?.span;
    if (span === undefined) return;
    span.updateName(samplingSpanName(event, conventions));
    span.setAttributes({ ...samplingAttributes(event, conventions), ...(includeContent ? contentAttributes(event) : undefined) });
  }

  #end(event: FutureSettledEvent): void {
    const open = this.#find(event);
    if (open === undefined) return;
    this.#open.delete(keyOf(event));
    const { span, startedAtMs } = open;
    const errorType = event.errorCode === undefined ? undefined : safeText(event.errorCode);
    if (event.requestId !== undefined) span.setAttribute('tinkex.request.id', redactText(event.requestId, 200));
    if (errorType !== undefined) span.setAttribute('error.type', errorType);
    span.setStatus(spanStatus(errorType));
    span.end(spanTime(startedAtMs + event.durationMs));
  }
}

/** What an event says about the call that it belongs to. */
type CallReference = Pick<EventSource, 'clientId'> & { readonly callId?: number | undefined };

/** Two copies of the SDK in one process count their calls separately. */
function keyOf({ clientId, callId }: CallReference): string {
  return `${clientId} ${callId}`;
}

function trainingAttributes({ modelId, datums, tokens, metrics }: TrainingOperationEvent): Attributes {
  const attributes: Attributes = { 'tinkex.model.id': modelId, 'tinkex.training.datums': datums, 'tinkex.training.tokens': tokens };
  for (const [name, value] of Object.entries(metrics).slice(0, MAX_METRIC_ATTRIBUTES)) {
    attributes[`tinkex.training.metric.${name}`] = value;
  }
  return attributes;
}

function contentAttributes({ content }: SamplingCallEvent): Attributes {
  if (content === undefined) return {};
  return {
    'tinkex.sampling.prompt': Array.from(content.prompt),
    'tinkex.sampling.sequences': JSON.stringify(content.sequences.map((tokens) => Array.from(tokens))),
  };
}
