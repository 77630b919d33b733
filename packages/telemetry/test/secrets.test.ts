import { inspect } from 'node:util';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { apiKeyAuth, type Clock, HttpClient, subscribe, systemClock } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { attachLogger, attachMetrics, attachProgress, EVENT_NAMES } from '../src/index.js';
import { attachOpenTelemetry, traceContext } from '../src/otel/index.js';
import { pollStatusReport, ServiceReporter } from '../src/reporter/index.js';
import { collectingSink } from './collecting-sink.js';
import { startLoopback } from './loopback.js';
import { publishAll, publishSample } from './sample-events.js';

const key = 'tml-S3cretS3cretS3cret';
const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzM2NyZXQifQ.c2lnbmVkLXNlY3JldA';
const prompt = 'my-private-prompt';
const tokens = [918_273_645, 546_372_819];
const signature = 'X-Signature-S3cret';
const secrets = [key, jwt, 'c2lnbmVkLXNlY3JldA', prompt, ...tokens.map(String), signature, 'p4ssw0rd'];

/** Waits end immediately, but for time limits. */
const impatientClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) => (delayMs < 10_000 ? setImmediate(callback) : undefined),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
};

/** Everything that every consumer emits, as text. */
async function emitted(work: (client: HttpClient, reporter: ServiceReporter) => Promise<void>): Promise<string> {
  const sink = collectingSink();
  const screen: string[] = [];
  const batches: unknown[] = [];
  const events: unknown[] = [];
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(inspect(warning));
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 })],
  });
  await using server = await startLoopback((path, _body, request) => {
    if (path === '/api/v1/telemetry') return { body: { status: 'accepted' } };
    // A careless server: it repeats the key.
    return { status: path.includes('fail') ? 400 : 200, body: { detail: `bad key ${String(request.headers['x-api-key'])}` } };
  });
  await using client = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth(key), clock: impatientClock, middleware: [traceContext()] });
  const reporter = new ServiceReporter({
    sessionId: 'session-1',
    sdkVersion: '0',
    send: (batch) => {
      batches.push(batch);
      return Promise.resolve();
    },
  });
  const unsubscribes = EVENT_NAMES.map((name) => subscribe(name, (event) => events.push({ ...event })));
  process.on('warning', onWarning);
  using _logger = attachLogger({ level: 'debug', sink });
  using metrics = attachMetrics();
  using progress = attachProgress({ stream: { write: (text) => screen.push(text) }, intervalMs: 0 });
  using otel = attachOpenTelemetry({ tracerProvider, meterProvider });
  await work(client, reporter);
  await reporter.close();
  progress.detach();
  otel.detach();
  for (const unsubscribe of unsubscribes) unsubscribe();
  await meterProvider.forceFlush();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  const exported = spans.getFinishedSpans().map(({ name, attributes, status, events: notes }) => ({ name, attributes, status, notes }));
  const everything = [sink.lines, metrics.snapshot(), metrics.prometheus(), screen, exported, measured.getMetrics(), batches, warnings];
  await meterProvider.shutdown();
  return inspect(published.isTrusted ? [...everything, events] : everything, { depth: 20, maxArrayLength: null, maxStringLength: null });
}

/** Whether the events themselves are searched too: those of the SDK are, those that a test poisons are not. */
const published = { isTrusted: true };

function expectNoSecrets(text: string): void {
  const found = secrets
    .filter((secret) => text.includes(secret))
    .map((secret) => text.slice(Math.max(0, text.indexOf(secret) - 200)).slice(0, 300));
  expect(found).toEqual([]);
}

describe('nothing that is emitted holds a secret', () => {
  it('of real requests: the key, the prompt, the tokens, a signed path, a failure that repeats them', async () => {
    published.isTrusted = true;
    const text = await emitted(async (client, reporter) => {
      await client.request({ method: 'POST', path: '/api/v1/asample', body: { prompt, tokens }, query: { sig: signature } });
      await client.request({ method: 'POST', path: '/api/v1/fail', body: { tokens }, headers: { authorization: `Bearer ${jwt}` } }).then(
        () => undefined,
        (error: unknown) => reporter.capture(new Error(`wrapped: ${key} ${jwt}`, { cause: error })),
      );
      reporter.event(
        pollStatusReport({
          requestId: 'r',
          requestType: 'Sample',
          iteration: 0,
          elapsedMs: 0,
          error: new Error(`https://u:p4ssw0rd@h.example/x?sig=${signature}`),
          kind: 'fatal',
          isRetried: false,
          badRequestRetries: 0,
          connectionErrorRetries: 0,
          requestHeaders: { 'X-API-Key': key, Authorization: `Bearer ${jwt}`, Cookie: `s=${signature}` },
          responseHeaders: { 'set-cookie': signature, date: 'today' },
        }),
      );
    });
    expect(text).toContain('/api/v1/asample');
    expect(text).toContain("event: 'tinkex:http:request:stop'");
    expect(text).toContain('user_error');
    expectNoSecrets(text);
  });

  it('of events whose publisher made a mistake', async () => {
    published.isTrusted = false;
    const text = await emitted(async () => {
      const poison = {
        baseUrl: `https://u:p4ssw0rd@h.example/?key=${signature}`,
        apiKey: key,
        prompt,
        promptIds: tokens,
        headers: { cookie: signature },
      };
      publishAll(poison as Partial<EventSource>);
      publishSample('tinkex:queue:state_change', { reason: `the key ${key} and Bearer ${jwt}` });
      publishSample('tinkex:checkpoint:download', { path: `https://store.example/a.tar?sig=${signature}` });
      publishSample('tinkex:http:request:stop', { path: `/a/${key}`, errorCode: jwt, requestType: key, requestId: key });
      publishSample('tinkex:sampling:call', { content: { prompt: tokens, sequences: [tokens] } });
      await Promise.resolve();
    });
    expect(text).toContain('h.example');
    expectNoSecrets(text);
  });
});
