import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { isTracingSuppressed, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ServiceClient } from '@tinkex/clients';
import type { Middleware } from '@tinkex/http';
import { attachOpenTelemetry, traceContext } from '@tinkex/telemetry/otel';
import { startServer } from '@tinkex/testkit';
import { datum, ModelInput, RateLimitError } from '@tinkex/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const propagator = new W3CTraceContextPropagator();
const data = [datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } })];

type Tree = { readonly [name: string]: Tree };

/** The spans below one span, by name. How often a result is polled depends on time, so equal children are one. */
function treeBelow(parent: Span | ReadableSpan): Tree {
  const children = exporter.getFinishedSpans().filter((span) => span.parentSpanContext?.spanId === parent.spanContext().spanId);
  const tree: Record<string, Tree> = {};
  for (const child of children) tree[child.name] = { ...tree[child.name], ...treeBelow(child) };
  return tree;
}

function spansNamed(name: string): readonly ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name);
}

/** Runs work inside a span of the application, as a web framework would. */
async function inSpan(work: () => Promise<unknown>): Promise<Span> {
  const span = tracerProvider.getTracer('application').startSpan('application');
  await context.with(trace.setSpan(context.active(), span), work);
  span.end();
  return span;
}

describe('the spans of an application', () => {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(async () => {
    context.disable();
    await tracerProvider.shutdown();
  });
  beforeEach(() => {
    exporter.reset();
  });

  it('nest the HTTP attempts of a training step under its operations', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
    server.on('forwardBackward').reply(503).once();
    using _telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const application = await inSpan(() => Promise.all([training.forwardBackward(data, 'cross_entropy'), training.optimStep()]));
    const poll = { 'POST /api/v1/retrieve_future': {} };
    expect(treeBelow(application)).toEqual({
      'training ForwardBackward': { 'POST ForwardBackward': {}, ...poll },
      'training OptimStep': { 'POST OptimStep': {}, ...poll },
    });
    expect(spansNamed('POST ForwardBackward').map(({ attributes }) => attributes['http.response.status_code'])).toEqual([503, 200]);
    expect(spansNamed('training ForwardBackward')[0]?.attributes).toMatchObject({
      'tinkex.model.id': training.modelId,
      'tinkex.training.datums': 1,
      'tinkex.training.tokens': 3,
      'tinkex.training.metric.loss:sum': expect.any(Number),
      'tinkex.request.id': expect.any(String),
    });
    const polls = spansNamed('POST /api/v1/retrieve_future');
    expect(polls.every(({ attributes }) => attributes['url.template'] === '/api/v1/retrieve_future')).toBe(true);
  });

  it('nest the HTTP attempts of a sample under it, by the latest conventions on request', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    const samplingParams = { maxTokens: 4, temperature: 0.5, topK: 10, seed: 3 };
    for (const genAi of ['basic', 'latest'] as const) {
      using _telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false, genAi });
      const application = await inSpan(() => Promise.resolve(sampling.sample({ prompt: [1, 2], numSamples: 2, samplingParams })));
      const name = genAi === 'basic' ? 'text_completion' : 'text_completion tinkex/tiny';
      expect(treeBelow(application)).toEqual({ [name]: { 'POST Sample': {}, 'POST /api/v1/retrieve_future': {} } });
    }
    const [basic, latest] = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('text_completion'));
    expect(basic?.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 2, 'gen_ai.usage.output_tokens': 8 });
    expect(basic?.attributes).not.toHaveProperty('gen_ai.request.model');
    expect(latest?.attributes).toMatchObject({
      'gen_ai.operation.name': 'text_completion',
      'gen_ai.provider.name': 'tinker',
      'gen_ai.request.model': 'tinkex/tiny',
      'gen_ai.request.max_tokens': 4,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_k': 10,
      'gen_ai.request.seed': 3,
      'gen_ai.request.choice.count': 2,
      'gen_ai.response.finish_reasons': ['length', 'length'],
      'gen_ai.usage.input_tokens': 2,
      'gen_ai.usage.output_tokens': 8,
    });
  });

  it('follow the opt-in of the environment', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    process.env['OTEL_SEMCONV_STABILITY_OPT_IN'] = 'http, gen_ai_latest_experimental';
    try {
      using _telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
      await sampling.sample({ prompt: [1], samplingParams: { maxTokens: 1 } });
    } finally {
      delete process.env['OTEL_SEMCONV_STABILITY_OPT_IN'];
    }
    expect(spansNamed('text_completion tinkex/tiny')).toHaveLength(1);
  });

  it('keep the requests of calls apart that run at the same time, and end with the error of their call', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    server.on('asample').reply(429, { retryAfterMs: 1 }).once();
    using _telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    const input = { prompt: [1], samplingParams: { maxTokens: 1 } };
    const outcomes = await Promise.allSettled([sampling.sample(input), sampling.sample(input), sampling.sample(input)]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([{ status: 'rejected', reason: expect.any(RateLimitError) }]);
    const calls = spansNamed('text_completion');
    expect(calls.map((span) => span.attributes['error.type'] ?? 'none').sort()).toEqual(['TINKEX_RATE_LIMIT', 'none', 'none']);
    for (const call of calls) {
      const hasPoll = call.attributes['error.type'] === undefined;
      expect(Object.keys(treeBelow(call))).toEqual(hasPoll ? ['POST Sample', 'POST /api/v1/retrieve_future'] : ['POST Sample']);
    }
  });

  it('are not doubled by instrumentations below: an attempt with a span is sent with tracing suppressed', async () => {
    await using server = await startServer({ engine: 'canned' });
    const below: boolean[] = [];
    const sent: (string | undefined)[] = [];
    const look: Middleware = (request, next) => {
      below.push(isTracingSuppressed(context.active()));
      sent.push(request.headers['traceparent']?.split('-')[2]);
      return next(request);
    };
    const middleware = [traceContext({ propagator }), look];
    await using service = new ServiceClient({ ...server.clientOptions, telemetry: false, middleware });
    using telemetry = attachOpenTelemetry({ tracerProvider, hasMetrics: false });
    await service.getServerCapabilities();
    telemetry.detach();
    await service.getServerCapabilities();
    expect(sent.slice(0, -1)).toEqual(exporter.getFinishedSpans().map((span) => span.spanContext().spanId));
    expect(below).toEqual([...below.slice(0, -1).map(() => true), false]);
  });
});
