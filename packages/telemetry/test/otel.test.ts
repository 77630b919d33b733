import { type Context, context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Clock, createResponse, HttpClient, monotonicTime, publish, type Transport, type TransportRequest } from '@tinkex/http';
import { ConnectionError } from '@tinkex/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attachOpenTelemetry, traceContext } from '../src/otel/index.js';
import { publishAll, publishSample, samples } from './sample-events.js';

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const propagator = new W3CTraceContextPropagator();

/** Answers with what the script says, and keeps what was sent. */
function scripted(script: readonly (number | 'reset')[]): Transport & { readonly sent: TransportRequest[] } {
  const sent: TransportRequest[] = [];
  return {
    sent,
    send: (request) => {
      const answer = script[sent.length] ?? 200;
      sent.push(request);
      return answer === 'reset'
        ? Promise.reject(new ConnectionError({ message: 'reset' }))
        : Promise.resolve(createResponse({ status: answer, body: { ok: true } }));
    },
    close: () => Promise.resolve(),
  };
}

function client(transport: Transport, middleware = [traceContext({ propagator })]): HttpClient {
  return new HttpClient({
    baseUrl: 'https://a.example:8443/base',
    transport,
    middleware,
    random: () => 0,
    maxRetries: 2,
    clock: instantClock,
  });
}

/** Time that flies: waits end immediately. */
const instantClock: Clock = {
  monotonicMs: () => monotonicTime(0),
  wallMs: () => 50_000,
  setTimeout: (callback, delayMs) => (delayMs < 10_000 ? setImmediate(callback) : undefined),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
};

function finished(): readonly ReadableSpan[] {
  return spans.getFinishedSpans();
}

function inParent<T>(work: () => T): { readonly result: T; readonly parent: Context } {
  const span = tracerProvider.getTracer('test').startSpan('parent');
  const parent = trace.setSpan(context.active(), span);
  return { result: context.with(parent, work), parent };
}

describe('attachOpenTelemetry', () => {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(async () => {
    context.disable();
    await tracerProvider.shutdown();
  });
  beforeEach(() => {
    spans.reset();
  });

  it('makes a span of each HTTP attempt, by the semantic conventions', async () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const transport = scripted([503, 'reset', 200]);
    await client(transport).request({
      method: 'POST',
      path: '/api/v1/asample',
      body: { a: 1 },
      query: { secret: 'x' },
      requestType: 'Sample',
    });
    attachment.detach();
    expect(
      finished().map(({ name, attributes, status }) => [
        name,
        attributes['http.response.status_code'],
        attributes['error.type'],
        status.code,
      ]),
    ).toEqual([
      ['POST Sample', 503, '503', 2],
      ['POST Sample', undefined, 'TINKEX_CONNECTION', 2],
      ['POST Sample', 200, undefined, 0],
    ]);
    expect(finished()[2]?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.request.resend_count': 2,
      'http.request.body.size': 7,
      'http.response.body.size': 11,
      'server.address': 'a.example',
      'server.port': 8443,
      'url.full': 'https://a.example:8443/base/api/v1/asample',
      'url.path': '/api/v1/asample',
      'tinkex.request.type': 'Sample',
    });
    expect(finished()[0]?.attributes).not.toHaveProperty('http.request.resend_count');
    expect(finished()[0]?.startTime).toEqual([50, 0]);
  });

  it('marks the span of an attempt that ended with a foreign error', async () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const broken = () => Promise.reject(new RangeError('mine'));
    await expect(client(scripted([]), [broken]).request({ method: 'GET', path: '/x' })).rejects.toThrow('mine');
    attachment.detach();
    expect(finished().map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([['RangeError', 2]]);
  });

  it('names a span after the method alone when the call has no operation: paths may hold ids', async () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    await client(scripted([])).request({ method: 'GET', path: '/api/v1/training_runs/run-1' });
    attachment.detach();
    expect(finished().map(({ name }) => name)).toEqual(['GET']);
  });

  it('makes attempts children of what is active at the call', async () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const http = client(scripted([]));
    const one = inParent(() => http.request({ method: 'GET', path: '/one' }));
    const two = inParent(() => http.request({ method: 'GET', path: '/two' }));
    await Promise.all([one.result, two.result]);
    attachment.detach();
    const parents = finished().map(({ attributes, parentSpanContext }) => [attributes['url.path'], parentSpanContext?.spanId]);
    expect(new Map(parents as [string, string][])).toEqual(
      new Map([
        ['/one', trace.getSpanContext(one.parent)?.spanId],
        ['/two', trace.getSpanContext(two.parent)?.spanId],
      ]),
    );
  });

  it('sends the trace context of the attempt itself', async () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const transport = scripted([500, 200]);
    const { result, parent } = inParent(() => client(transport).request({ method: 'GET', path: '/x' }));
    await result;
    attachment.detach();
    const traceId = trace.getSpanContext(parent)?.traceId;
    expect(transport.sent.map(({ headers }) => headers['traceparent'])).toEqual(
      finished().map((span) => `00-${traceId}-${span.spanContext().spanId}-01`),
    );
  });

  it('sends the active trace context when there are no spans, and none where nothing is active', async () => {
    const transport = scripted([]);
    const http = client(transport);
    const { result, parent } = inParent(() => http.request({ method: 'GET', path: '/x' }));
    await result;
    await http.request({ method: 'GET', path: '/x' });
    expect(transport.sent.map(({ headers }) => headers['traceparent'])).toEqual([
      `00-${trace.getSpanContext(parent)?.traceId}-${trace.getSpanContext(parent)?.spanId}-01`,
      undefined,
    ]);
  });

  it('sends nothing unless asked, keeps a header that is there, and survives a broken propagator', async () => {
    const transport = scripted([]);
    const broken = {
      inject: (): never => {
        throw new Error('broken');
      },
      extract: (given: Context) => given,
      fields: () => [],
    };
    const header = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await inParent(() => client(transport, []).request({ method: 'GET', path: '/x' })).result;
    await inParent(() => client(transport).request({ method: 'GET', path: '/x', headers: { traceparent: header } })).result;
    await inParent(() => client(transport, [traceContext({ propagator: broken })]).request({ method: 'GET', path: '/x' })).result;
    expect(transport.sent.map(({ headers }) => headers['traceparent'])).toEqual([undefined, header, undefined]);
  });

  it('makes spans of training and sampling calls, from the call to the end of their future', () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const { parent } = inParent(() => {
      publishSample('tinkex:future:start', { callId: 1, startedAtMs: 99_750 });
      publishSample('tinkex:future:start', { callId: 2, requestType: 'Sample' });
    });
    publishSample('tinkex:training:operation', { callId: 1 });
    publishSample('tinkex:future:settled', { callId: 1, durationMs: 250 });
    publishSample('tinkex:sampling:call', { callId: 2, errorCode: 'TINKEX_API_STATUS' });
    publishSample('tinkex:future:settled', { callId: 2, outcome: 'rejected', errorCode: 'TINKEX_API_STATUS' });
    attachment.detach();
    const [training, sampling] = finished();
    expect([training?.name, training?.startTime, training?.endTime]).toEqual(['training ForwardBackward', [99, 750_000_000], [100, 0]]);
    expect(training?.parentSpanContext?.spanId).toBe(trace.getSpanContext(parent)?.spanId);
    expect(training?.attributes).toMatchObject({
      'server.address': 'a.example',
      'session.id': 'session-a',
      'tinkex.client.id': 'client-a',
      'tinkex.model.id': 'model-1',
      'tinkex.training.datums': 8,
      'tinkex.training.tokens': 1_000,
      'tinkex.training.metric.loss:mean': 2.5,
      'tinkex.request.id': 'request-1',
    });
    expect([sampling?.name, sampling?.status.code]).toEqual(['text_completion', 2]);
    expect(sampling?.attributes).toMatchObject({
      'gen_ai.operation.name': 'text_completion',
      'gen_ai.provider.name': 'tinker',
      'gen_ai.usage.input_tokens': 32,
      'gen_ai.usage.output_tokens': 256,
      'gen_ai.request.choice.count': 4,
      'error.type': 'TINKEX_API_STATUS',
    });
  });

  it('makes attempts children of their call, of another client or of none', () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    publishSample('tinkex:future:start', { callId: 1 });
    for (const reference of [{ callId: 1 }, { callId: 1, clientId: 'other' }, { callId: undefined }]) {
      const event = samples['tinkex:http:request:start'](reference);
      publish('tinkex:http:request:start', event);
      publish('tinkex:http:request:stop', event);
    }
    publishSample('tinkex:future:settled', { callId: 1 });
    attachment.detach();
    const call = finished().at(-1)?.spanContext().spanId;
    expect(finished().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([call, undefined, undefined, undefined]);
  });

  it('shows content on sampling spans only on request', () => {
    const content = { prompt: Int32Array.of(7, 8), sequences: [Int32Array.of(9)] };
    for (const includeContent of [false, true]) {
      using _attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false, includeContent });
      publishSample('tinkex:future:start', { requestType: 'Sample' });
      publishSample('tinkex:sampling:call', { content });
      publishSample('tinkex:future:settled', { requestType: 'Sample' });
    }
    expect(finished().map(({ attributes }) => attributes['tinkex.sampling.prompt'])).toEqual([undefined, [7, 8]]);
    expect(finished()[1]?.attributes['tinkex.sampling.sequences']).toBe('[[9]]');
  });

  it('ends the spans of attempts and calls that are under way when it is detached', () => {
    using attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    publishSample('tinkex:future:start');
    publishSample('tinkex:http:request:start');
    expect(finished()).toHaveLength(0);
    attachment.detach();
    attachment.detach();
    expect(finished()).toHaveLength(2);
  });

  it('names a poll after its path, unlike the request that submitted the operation', () => {
    using _attachment = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    for (const path of ['/api/v1/forward_backward', '/api/v1/retrieve_future', '/api/v1/training_runs/run-1']) {
      const event = { ...samples['tinkex:http:request:start'](), path, requestType: 'ForwardBackward' };
      publish('tinkex:http:request:start', event);
      publish('tinkex:http:request:stop', event);
    }
    expect(finished().map(({ name, attributes }) => [name, attributes['url.template']])).toEqual([
      ['POST ForwardBackward', '/api/v1/forward_backward'],
      ['POST /api/v1/retrieve_future', '/api/v1/retrieve_future'],
      ['POST ForwardBackward', undefined],
    ]);
  });

  it('records metrics under the names of the semantic conventions', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const meterProvider = new MeterProvider({ readers: [reader] });
    using attachment = attachOpenTelemetry({ meterProvider, hasSpans: false });
    publishAll();
    const inFlight = samples['tinkex:http:request:start']();
    publish('tinkex:http:request:start', inFlight);
    publish('tinkex:http:request:stop', inFlight);
    attachment.detach();
    publishAll();
    await meterProvider.forceFlush();
    const metrics = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [];
    const points = new Map(metrics.map(({ descriptor, dataPoints }) => [descriptor.name, { unit: descriptor.unit, dataPoints }]));
    expect([...points.keys()].sort()).toEqual([
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'http.client.active_requests',
      'http.client.request.body.size',
      'http.client.request.duration',
      'http.client.response.body.size',
      'tinkex.future.duration',
      'tinkex.future.polls',
      'tinkex.http.retries',
      'tinkex.rate_limit.wait',
      'tinkex.recovery.duration',
      'tinkex.recovery.events',
      'tinkex.session.heartbeats_missed',
      'tinkex.training.metric',
      'tinkex.training.operation.duration',
      'tinkex.training.tokens',
    ]);
    const duration = points.get('http.client.request.duration');
    expect(duration?.unit).toBe('s');
    const answered = duration?.dataPoints.find(({ attributes }) => attributes['http.response.status_code'] === 200) as DataPoint<Histogram>;
    expect(answered.value).toMatchObject({ count: 1, sum: 0.02 });
    expect(answered.attributes).toMatchObject({ 'http.request.method': 'POST', 'server.address': 'a.example', 'server.port': 443 });
    const tokens = points.get('gen_ai.client.token.usage')?.dataPoints as DataPoint<Histogram>[];
    expect(tokens.map(({ attributes, value }) => [attributes['gen_ai.token.type'], value.sum])).toEqual([
      ['input', 32],
      ['output', 256],
    ]);
    const training = points.get('tinkex.training.metric')?.dataPoints ?? [];
    const sent = Object.entries(samples['tinkex:training:operation']().metrics);
    expect(sent.length).toBeGreaterThan(0);
    expect(training.map(({ attributes, value }) => [attributes['tinkex.training.metric.name'], value])).toEqual(sent);
    const recoveries = points.get('tinkex.recovery.events')?.dataPoints ?? [];
    expect(recoveries.map(({ attributes, value }) => [attributes['tinkex.recovery.kind'], attributes['error.type'], value])).toEqual([
      ['broken', undefined, 1],
      ['attempt', undefined, 1],
      ['attempt_failed', 'TINKEX_CONNECTION', 1],
      ['recovered', undefined, 1],
      ['given_up', 'TINKEX_CONNECTION', 1],
      ['watch_failed', 'TINKEX_CONNECTION', 1],
    ]);
    // publishAll starts one attempt under one object and ends others: only those it saw start are subtracted.
    expect(points.get('http.client.active_requests')?.dataPoints[0]?.value).toBe(1);
    await meterProvider.shutdown();
  });

  it('keeps the errors of a broken tracer away from the application', () => {
    const broken = { getTracer: () => ({ startSpan: () => JSON.parse('{'), startActiveSpan: () => JSON.parse('{') }) };
    using attachment = attachOpenTelemetry({ tracerProvider: broken as never, hasMetrics: false, onError: () => undefined });
    expect(() => publishSample('tinkex:http:request:start')).not.toThrow();
    attachment.detach();
    expect(attachment.errors).toBe(1);
  });
});
