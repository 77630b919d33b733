/** See everything: log lines, metrics and OpenTelemetry spans, without touching the code that trains. */
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { attachOpenTelemetry } from '@tinkex/telemetry/otel';
import { ModelInput, nextTokenDatum } from '@tinkex/types';
import { runExample } from './shared/run-example.js';
import { openTarget, type Target } from './shared/target.js';
import { paint } from './shared/terminal.js';

/** A sink is anything with these four methods: `console`, pino through `pinoSink`, or your own. The second argument holds the fields. */
const writeLine = (level: string) => (message: string) => console.log(`  ${level.padEnd(5)} ${message}`);
const SINK = { debug: writeLine('debug'), info: writeLine('info'), warn: writeLine('warn'), error: writeLine('error') };

await runExample(
  { about: 'Runs a short training with a logger, a metrics registry and an OpenTelemetry bridge attached.' },
  async ({ signal }) => {
    const spans = new InMemorySpanExporter(); // in your application: an exporter that sends them to your collector
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
    const instruments = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const meterProvider = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: instruments, exportIntervalMillis: 60_000 })],
    });
    {
      using _logger = attachLogger({ level: 'info', sink: SINK });
      using metrics = attachMetrics();
      using _tracing = attachOpenTelemetry({ tracerProvider, meterProvider });
      await using target = await openTarget({ signal });
      console.log(`Running on ${target.description}\n\n${paint('bold', 'Log lines')}`);
      await trainAndSample(target, signal); // contains no telemetry code
      await target.service.close();

      console.log(`\n${paint('bold', 'Metrics')} (also as Prometheus text: metrics.prometheus())`);
      console.log(
        `  requests: ${metrics.total('tinkex_http_requests_total')}, answered with 200: ${metrics.total('tinkex_http_requests_total', { status: '200' })}`,
      );
      for (const line of metrics.prometheus().split('\n')) {
        if (/^tinkex_(training_tokens|sampling_\w*tokens|training_operations)\w*\{/.test(line)) console.log(`  ${line}`);
      }
    }
    console.log(`\n${paint('bold', 'Spans')} (how many of each name)`);
    for (const [name, count] of countByName(spans.getFinishedSpans())) console.log(`  ${String(count).padStart(4)} × ${name}`);
    await meterProvider.forceFlush();
    const names = instruments
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name)));
    console.log(`\n${paint('bold', 'OpenTelemetry metrics')}\n  ${[...new Set(names)].sort().join('\n  ')}`);
    await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
    console.log('\nEverything is detached: no subscriber, no cost.');
  },
);

async function trainAndSample({ service, baseModel, learningRate }: Target, signal: AbortSignal): Promise<void> {
  const training = await service.createLoraTrainingClient({ baseModel, rank: 8, signal });
  const tokenizer = await training.getTokenizer({ signal });
  const data = [nextTokenDatum(ModelInput.fromText('Measure twice, cut once.', tokenizer).toInts())];
  for (let step = 0; step < 3; step++) {
    await Promise.all([training.forwardBackward(data, 'cross_entropy', { signal }), training.optimStep({ learningRate }, { signal })]);
  }
  await training.saveState('measured', { ttlSeconds: 3600, signal });
  const sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
  await sampling.sample(
    { prompt: ModelInput.fromText('Measure', tokenizer), samplingParams: { maxTokens: 16, temperature: 0 } },
    { signal },
  );
}

function countByName(spans: readonly ReadableSpan[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of spans) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
