import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { HttpRequestEvent } from '@tinkex/types';
import { type EventHandlers, recoveryHandlers } from '../events/event-handlers.js';
import { safeText } from '../events/safe-text.js';
import { httpErrorType, PROVIDER_NAME, serverAttributes } from './attributes.js';
import { GEN_AI_OPERATION, type GenAiConventions, modelAttribute } from './gen-ai.js';

/** Bucket boundaries from the semantic conventions: OpenTelemetry's defaults are meant for milliseconds. */
const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const OPERATION_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];
const BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** A server may invent names; each is a time series. */
const MAX_METRICS = 50;

/** Records events on OpenTelemetry instruments, under the names of the semantic conventions where they exist. */
export function instruments(meter: Meter, conventions: GenAiConventions): EventHandlers {
  return { ...httpInstruments(meter), ...samplingInstruments(meter, conventions), ...sdkInstruments(meter), ...recoveryInstruments(meter) };
}

function histogram(meter: Meter, name: string, unit: string, description: string, explicitBucketBoundaries: number[]): Histogram {
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
}

function httpInstruments(meter: Meter): EventHandlers {
  const duration = histogram(meter, 'http.client.request.duration', 's', 'Duration of HTTP client requests.', HTTP_SECONDS);
  const requestSize = histogram(meter, 'http.client.request.body.size', 'By', 'Size of HTTP request bodies.', BYTES);
  const responseSize = histogram(meter, 'http.client.response.body.size', 'By', 'Size of HTTP response bodies.', BYTES);
  const active = meter.createUpDownCounter('http.client.active_requests', { unit: '{request}', description: 'Active HTTP requests.' });
  const retries = meter.createCounter('tinkex.http.retries', { unit: '{request}', description: 'HTTP attempts that were repeated.' });
  // An attempt that started before this consumer was attached must not be subtracted when it ends.
  const started = new WeakSet<HttpRequestEvent>();
  const common = (event: HttpRequestEvent): Attributes => ({ 'http.request.method': event.method, ...serverAttributes(event.baseUrl) });
  const recordEnd = (event: HttpRequestEvent): void => {
    if (started.delete(event)) active.add(-1, common(event));
    const attributes = withError(httpErrorType(event), { 'tinkex.request.type': safeText(event.requestType), ...common(event) });
    if (event.status !== undefined) attributes['http.response.status_code'] = event.status;
    if (event.durationMs !== undefined) duration.record(event.durationMs / 1_000, attributes);
    requestSize.record(event.requestBytes, attributes);
    if (event.responseBytes !== undefined) responseSize.record(event.responseBytes, attributes);
  };
  return {
    'tinkex:http:request:start': (event) => {
      started.add(event);
      active.add(1, common(event));
    },
    'tinkex:http:request:stop': recordEnd,
    'tinkex:http:request:exception': recordEnd,
    'tinkex:http:request:retry': (event) => retries.add(1, operationAttributes(event)),
  };
}

function samplingInstruments(meter: Meter, conventions: GenAiConventions): EventHandlers {
  const duration = histogram(meter, 'gen_ai.client.operation.duration', 's', 'Duration of sampling calls.', OPERATION_SECONDS);
  const tokens = histogram(meter, 'gen_ai.client.token.usage', '{token}', 'Tokens in and out of sampling calls.', TOKENS);
  return {
    'tinkex:sampling:call': (event) => {
      const { baseUrl, errorCode, durationMs, promptTokens, sampledTokens } = event;
      const operation = { 'gen_ai.operation.name': GEN_AI_OPERATION, 'gen_ai.provider.name': PROVIDER_NAME };
      const call = { ...operation, ...modelAttribute(event, conventions), ...serverAttributes(baseUrl) };
      const attributes = withError(errorCode, call);
      duration.record(durationMs / 1_000, attributes);
      tokens.record(promptTokens, { 'gen_ai.token.type': 'input', ...attributes });
      if (errorCode === undefined) tokens.record(sampledTokens, { 'gen_ai.token.type': 'output', ...attributes });
    },
  };
}

function sdkInstruments(meter: Meter): EventHandlers {
  const operations = histogram(meter, 'tinkex.training.operation.duration', 's', 'Duration of training calls.', OPERATION_SECONDS);
  const values = meter.createGauge('tinkex.training.metric', {
    description: 'The last value of each metric of a training call, such as loss:sum.',
  });
  const trained = meter.createCounter('tinkex.training.tokens', { unit: '{token}', description: 'Tokens in finished training calls.' });
  const futures = histogram(meter, 'tinkex.future.duration', 's', 'Time from a call to the end of its future.', OPERATION_SECONDS);
  const polls = meter.createCounter('tinkex.future.polls', { unit: '{poll}', description: 'Polls of futures.' });
  const waits = histogram(meter, 'tinkex.rate_limit.wait', 's', 'Time calls were held by the shared backoff.', OPERATION_SECONDS);
  const missed = meter.createCounter('tinkex.session.heartbeats_missed', { unit: '{heartbeat}', description: 'Unanswered heartbeats.' });
  return {
    'tinkex:training:operation': (event) => {
      operations.record(event.durationMs / 1_000, operationAttributes(event));
      trained.add(event.tokens, operationAttributes(event));
      for (const [name, value] of Object.entries(event.metrics).slice(0, MAX_METRICS)) {
        values.record(value, {
          'tinkex.training.metric.name': safeText(name),
          'tinkex.model.id': event.modelId,
          ...operationAttributes(event),
        });
      }
    },
    'tinkex:future:settled': (event) =>
      futures.record(event.durationMs / 1_000, { 'tinkex.outcome': event.outcome, ...operationAttributes(event) }),
    'tinkex:future:poll': (event) => polls.add(1, { 'tinkex.outcome': event.outcome, ...operationAttributes(event) }),
    'tinkex:rate_limit:wait': ({ delayMs, baseUrl }) => waits.record(delayMs / 1_000, serverAttributes(baseUrl)),
    'tinkex:session:heartbeat_missed': ({ baseUrl }) => missed.add(1, serverAttributes(baseUrl)),
  };
}

function recoveryInstruments(meter: Meter): EventHandlers {
  const description = 'Observations and actions of recovery monitors.';
  const events = meter.createCounter('tinkex.recovery.events', { unit: '{event}', description });
  const help = 'Time from the start of a recovery to the new run.';
  const duration = histogram(meter, 'tinkex.recovery.duration', 's', help, OPERATION_SECONDS);
  return recoveryHandlers((kind, { baseUrl, durationMs, errorCode }) => {
    events.add(1, withError(errorCode, { 'tinkex.recovery.kind': kind, ...serverAttributes(baseUrl) }));
    if (kind === 'recovered' && durationMs !== undefined) duration.record(durationMs / 1_000, serverAttributes(baseUrl));
  });
}

function operationAttributes({ requestType, baseUrl }: { readonly requestType: string; readonly baseUrl: string }): Attributes {
  return { 'tinkex.request.type': safeText(requestType), ...serverAttributes(baseUrl) };
}

/** Adds `error.type` if there is an error. Metric exporters show an undefined attribute, so it must be absent otherwise. */
function withError(errorType: string | undefined, attributes: Attributes): Attributes {
  return errorType === undefined ? attributes : { 'error.type': safeText(errorType), ...attributes };
}
