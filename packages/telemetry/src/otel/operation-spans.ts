import { type Attributes, context, SpanKind, type Tracer } from '@opentelemetry/api';
import type { Clock } from '@tinkex/http';
import type { SamplingCallEvent, TrainingOperationEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import { sourceAttributes, spanStatus } from './attributes.js';
import { spanTime } from './span-time.js';

/** The provider's name in `gen_ai.*` attributes. */
export const providerName = 'tinker';

/** What operation spans need. */
export interface OperationSpanOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly includeContent: boolean;
}

const maxMetricAttributes = 50;

/**
 * Spans of training and sampling calls. They are made when the call ends, with the time it took, as children of the context that is
 * active then.
 */
export function operationSpans({ tracer, clock, includeContent }: OperationSpanOptions): EventHandlers {
  const record = (name: string, durationMs: number, attributes: Attributes, errorType: string | undefined): void => {
    const endMs = clock.now();
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: spanTime(endMs - durationMs), attributes }, context.active());
    if (errorType !== undefined) span.setAttribute('error.type', errorType);
    span.setStatus(spanStatus(errorType));
    span.end(spanTime(endMs));
  };
  return {
    'tinkex:training:operation': (event) =>
      record(`training ${safeText(event.requestType)}`, event.durationMs, trainingAttributes(event), undefined),
    'tinkex:sampling:call': (event) =>
      record('text_completion', event.durationMs, samplingAttributes(event, includeContent), errorTypeOf(event)),
  };
}

function trainingAttributes(event: TrainingOperationEvent): Attributes {
  const attributes: Attributes = {
    'gen_ai.provider.name': providerName,
    'tinkex.request.type': safeText(event.requestType),
    'tinkex.model.id': event.modelId,
    'tinkex.training.datums': event.datums,
    'tinkex.training.tokens': event.tokens,
    ...sourceAttributes(event),
    ...(event.requestId === undefined ? {} : { 'tinkex.request.id': redactText(event.requestId, 200) }),
  };
  for (const [name, value] of Object.entries(event.metrics).slice(0, maxMetricAttributes)) {
    attributes[`tinkex.training.metric.${name}`] = value;
  }
  return attributes;
}

function samplingAttributes(event: SamplingCallEvent, includeContent: boolean): Attributes {
  return {
    'gen_ai.operation.name': 'text_completion',
    'gen_ai.provider.name': providerName,
    'gen_ai.request.choice.count': event.samples,
    'gen_ai.usage.input_tokens': event.promptTokens,
    'gen_ai.usage.output_tokens': event.sampledTokens,
    'tinkex.request.type': safeText(event.requestType),
    'tinkex.sampling.session.id': event.samplingSessionId,
    'tinkex.attempt': event.attempt,
    ...sourceAttributes(event),
    ...(event.requestId === undefined ? {} : { 'tinkex.request.id': redactText(event.requestId, 200) }),
    ...(includeContent && event.content !== undefined
      ? {
          'tinkex.sampling.prompt': Array.from(event.content.prompt),
          'tinkex.sampling.sequences': JSON.stringify(event.content.sequences.map((tokens) => Array.from(tokens))),
        }
      : {}),
  };
}

function errorTypeOf({ errorCode }: SamplingCallEvent): string | undefined {
  return errorCode === undefined ? undefined : safeText(errorCode);
}
