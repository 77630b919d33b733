import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { type Attachment, type AttachOptions, Consumer } from '../attach/consumer.js';
import { AttemptSpans } from './attempt-spans.js';
import { type GenAiConventions, genAiConventions } from './gen-ai.js';
import { instruments } from './instruments.js';
import { OperationSpans } from './operation-spans.js';

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
  /**
   * Which conventions of `gen_ai.*` to follow. `latest` adds the model, the settings and the finish reasons. Default: `latest` if the
   * environment variable `OTEL_SEMCONV_STABILITY_OPT_IN` contains `gen_ai_latest_experimental`, else `basic`.
   */
  readonly genAi?: GenAiConventions | undefined;
}

const SCOPE = '@tinkex/telemetry';

/**
 * Creates OpenTelemetry spans (training calls and sampling calls with their HTTP attempts) and metrics from the SDK's events. Spans are
 * children of the context that is active in the application. Requires `@opentelemetry/api`, and an SDK that the application registers.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 */
export function attachOpenTelemetry(options: OpenTelemetryOptions = {}): Attachment {
  return new OpenTelemetryBridge(options);
}

class OpenTelemetryBridge extends Consumer {
  readonly #spans: readonly { endAll(): void }[] = [];

  constructor(options: OpenTelemetryOptions) {
    super('attachOpenTelemetry', options);
    const { hasSpans = true, hasMetrics = true, includeContent = false, genAi: conventions = genAiConventions() } = options;
    if (hasMetrics) this.listen(instruments((options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE), conventions));
    if (!hasSpans) return;
    const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
    const operations = new OperationSpans({ tracer, conventions, includeContent });
    const attempts = new AttemptSpans(tracer, (event) => operations.contextOf(event));
    this.#spans = [attempts, operations];
    this.listen(operations.handlers);
    // Last, so that the span is announced right before the request is sent.
    this.listen(attempts.handlers);
  }

  override detach(): void {
    super.detach();
    for (const spans of this.#spans) spans.endAll();
  }
}
