import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { type Clock, systemClock } from '@tinkex/http';
import { type Attachment, type AttachOptions, Consumer } from '../attach/consumer.js';
import { AttemptSpans } from './attempt-spans.js';
import { instruments } from './instruments.js';
import { operationSpans } from './operation-spans.js';

/** Options of {@link attachOpenTelemetry}. */
export interface OpenTelemetryOptions extends AttachOptions {
  /** Default: the globally registered provider. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the globally registered provider. Register yours before attaching: instruments are created immediately. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Create spans. Default `true`. */
  readonly hasSpans?: boolean | undefined;
  /** Record metrics. Default `true`. */
  readonly hasMetrics?: boolean | undefined;
  /** Put prompts and sampled tokens on sampling spans, if the client publishes them. Default `false`. */
  readonly includeContent?: boolean | undefined;
  /** Gives training and sampling spans their end time. Pass the client's clock if it has one. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const SCOPE = '@tinkex/telemetry';

/**
 * Creates OpenTelemetry spans (HTTP attempts, training calls, sampling calls) and metrics from the SDK's events. Spans are children of the
 * context that is active in the application. Requires `@opentelemetry/api`, and an SDK that the application registers.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 */
export function attachOpenTelemetry(options: OpenTelemetryOptions = {}): Attachment {
  return new OpenTelemetryBridge(options);
}

class OpenTelemetryBridge extends Consumer {
  readonly #attemptSpans: AttemptSpans | undefined;

  constructor(options: OpenTelemetryOptions) {
    super('attachOpenTelemetry', options);
    const { hasSpans = true, hasMetrics = true, includeContent = false, clock = systemClock } = options;
    if (hasMetrics) this.listen(instruments((options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE)));
    if (!hasSpans) return;
    const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
    this.#attemptSpans = new AttemptSpans(tracer);
    this.listen(operationSpans({ tracer, clock, includeContent }));
    // Last, so that the span is announced right before the request is sent.
    this.listen(this.#attemptSpans.handlers);
  }

  override detach(): void {
    super.detach();
    this.#attemptSpans?.endAll();
  }
}
