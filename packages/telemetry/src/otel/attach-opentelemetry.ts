import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { type Clock, systemClock } from '@tinkex/http';
import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { type AttachOptions, attach, type EventHandlers } from '../attach/attach.js';
import type { Attachment } from '../attach/attachment.js';
import { AttemptSpans } from './attempt-spans.js';
import { instruments } from './instruments.js';
import { operationSpans } from './operation-spans.js';

/** Options of {@link attachOpenTelemetry}. */
export interface OpenTelemetryOptions extends AttachOptions {
  /** Default: the globally registered provider. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the globally registered provider. Register yours before attaching: instruments are made at once. */
  readonly meterProvider?: MeterProvider;
  /** Make spans. Default `true`. */
  readonly hasSpans?: boolean;
  /** Record metrics. Default `true`. */
  readonly hasMetrics?: boolean;
  /** Put prompts and sampled tokens on sampling spans, when the client publishes them. Default `false`. */
  readonly includeContent?: boolean;
  /** Dates the end of training and sampling spans. Give the client's clock if it has its own. Default: the machine's time. */
  readonly clock?: Clock;
}

const scope = '@tinkex/telemetry';

/**
 * Makes OpenTelemetry spans (HTTP attempt, training call, sampling call) and metrics of the SDK's events. Spans are children of the
 * context that is active in the application. Needs `@opentelemetry/api`, and an SDK registered by the application.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is no URL.
 */
export function attachOpenTelemetry(options: OpenTelemetryOptions = {}): Attachment {
  const { hasSpans = true, hasMetrics = true, includeContent = false, clock = systemClock } = options;
  const groups: EventHandlers[] = [];
  let spans: AttemptSpans | undefined;
  if (hasMetrics) groups.push(instruments((options.meterProvider ?? metrics.getMeterProvider()).getMeter(scope)));
  if (hasSpans) {
    const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(scope);
    spans = new AttemptSpans(tracer);
    groups.push(spans.handlers, operationSpans({ tracer, clock, includeContent }));
  }
  const attachment = attach('attachOpenTelemetry', merge(groups), options);
  const detach = (): void => {
    attachment.detach();
    spans?.endAll();
  };
  return {
    detach,
    get errors() {
      return attachment.errors;
    },
    [Symbol.dispose]: detach,
  };
}

/** One handler for each event that any group wants. Spans come last, so that the span is announced right before the request goes out. */
function merge(groups: readonly EventHandlers[]): EventHandlers {
  const merged: { -readonly [Name in keyof EventHandlers]: EventHandlers[Name] } = {};
  for (const group of groups) {
    for (const name of Object.keys(group) as TinkexEventName[]) add(name, group);
  }
  function add<Name extends TinkexEventName>(name: Name, group: EventHandlers): void {
    const before = merged[name] as ((event: TinkexEvents[Name]) => void) | undefined;
    const after = group[name] as (event: TinkexEvents[Name]) => void;
    const both = (event: TinkexEvents[Name]): void => {
      before?.(event);
      after(event);
    };
    merged[name] = (before === undefined ? after : both) as NonNullable<EventHandlers[Name]>;
  }
  return merged;
}
