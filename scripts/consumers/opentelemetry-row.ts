import type { Row } from './row.js';

/** An application whose HTTP requests are traced by OpenTelemetry's own instrumentation, and by ours: how many spans has each request? */
const APP = `
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ServiceClient } from '@tinkex/clients';
import { attachOpenTelemetry, traceContext } from '@tinkex/telemetry/otel';
import { startServer } from '@tinkex/testkit';

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const server = await startServer({ engine: 'canned' });
const instrumentation = new UndiciInstrumentation();
instrumentation.setTracerProvider(tracerProvider);
instrumentation.enable();
const telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false });

async function spansPerRequest(middleware) {
  exporter.reset();
  server.reset();
  const service = new ServiceClient({ ...server.clientOptions, telemetry: false, middleware });
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
  await sampling.sample({ prompt: [1, 2], samplingParams: { maxTokens: 2 } });
  await service.close();
  // The instrumentation ends a span when it has read the answer, which may be a turn later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const spans = exporter.getFinishedSpans().filter(({ attributes }) => attributes['http.request.method'] !== undefined);
  return spans.length / server.calls.length;
}

console.log('spans per request: ' + (await spansPerRequest([traceContext()])) + ' with traceContext(), ' + (await spansPerRequest([])) + ' without');
await server.close();
telemetry.detach();
`;

/** No second span for a request beside the instrumentation of undici, by what the telemetry guide says. */
export function openTelemetryRow(): Row {
  return {
    name: 'OpenTelemetry beside instrumentation-undici',
    files: { 'app.mjs': APP },
    commands: [['node', 'app.mjs']],
    expected: 'spans per request: 1 with traceContext(), 2 without',
  };
}
