import { type Attributes, context, SpanKind, type Tracer } from '@opentelemetry/api';
import type { Clock } from '@tinkex/http';
import type { OperationEvent, SamplingCallEvent, TrainingOperationEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { EventHandlers } from '../events/event-handlers.js';
import { safeText } from '../events/safe-text.js';
import { PROVIDER_NAME, sourceAttributes, spanStatus, spanTime } from './attributes.js';

/** What operation spans need. */
export interface OperationSpanOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly includeContent: boolean;
}

const MAX_METRIC_ATTRIBUTES = 50;

/**
 * Spans of training and sampling calls. They are created when the call ends, with a start time in the past, as children of the context
 * that is active then.
 */
export function operationSpans({ tracer, clock, includeContent }: OperationSpanOptions): EventHandlers {
  const record = (name: string, durationMs: number, attributes: Attributes, errorType?: string): void => {
    const endMs = clock.wallMs();
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: spanTime(endMs - durationMs), attributes }, context.active());
    if (errorType !== undefined) span.setAttribute('error.type', errorType);
    span.setStatus(spanStatus(errorType));
    span.end(spanTime(endMs));
  };
  return {
    'tinkex:training:operation': (event) => record(`training ${safeText(event.requestType)}`, event.durationMs, trainingAttributes(event)),
    'tinkex:sampling:call': (event) => {
      const attributes = { ...samplingAttributes(event), ...(includeContent ? contentAttributes(event) : undefined) };
      record('text_completion', event.durationMs, attributes, event.errorCode === undefined ? undefined : safeText(event.errorCode));
    },
  };
}

function operationAttributes(event: OperationEvent): Attributes {
  return {
    'gen_ai.provider.name': PROVIDER_NAME,
    'tinkex.request.type': safeText(event.requestType),
    'tinkex.request.id': event.requestId === undefined ? undefined : redactText(event.requestId, 200),
    ...sourceAttributes(event),
  };
}

function trainingAttributes(event: TrainingOperationEvent): Attributes {
  const attributes: Attributes = {
    'tinkex.model.id': event.modelId,
    'tinkex.training.datums': event.datums,
    'tinkex.training.tokens': event.tokens,
    ...operationAttributes(event),
  };
  for (const [name, value] of Object.entries(event.metrics).slice(0, MAX_METRIC_ATTRIBUTES)) {
    attributes[`tinkex.training.metric.${name}`] = value;
  }
  return attributes;
}

function samplingAttributes(event: SamplingCallEvent): Attributes {
  return {
    'gen_ai.operation.name': 'text_completion',
    'gen_ai.request.choice.count': event.samples,
    'gen_ai.usage.input_tokens': event.promptTokens,
    'gen_ai.usage.output_tokens': event.sampledTokens,
    'tinkex.sampling.session.id': event.samplingSessionId,
    'tinkex.attempt': event.attempt,
    ...operationAttributes(event),
  };
}

function contentAttributes({ content }: SamplingCallEvent): Attributes {
  if (content === undefined) return {};
  return {
    'tinkex.sampling.prompt': Array.from(content.prompt),
    'tinkex.sampling.sequences': JSON.stringify(content.sequences.map((tokens) => Array.from(tokens))),
  };
}
