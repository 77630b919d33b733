import type { Attributes, Meter } from '@opentelemetry/api';
import type { HttpRequestEvent } from '@tinkex/types';
import type { EventHandlers } from '../attach/attach.js';
import { recoveryHandlers } from '../attach/recovery-handlers.js';
import { safeText } from '../redaction/safe-text.js';
import { httpErrorType, serverAttributes } from './attributes.js';
import { providerName } from './operation-spans.js';

/** The conventions' own boundaries: OpenTelemetry's default ones are made for milliseconds. */
const httpSeconds = { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] };
const workSeconds = { explicitBucketBoundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] };
const tokenCounts = { explicitBucketBoundaries: [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304] };
const byteCounts = { explicitBucketBoundaries: [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] };

/** Records events on OpenTelemetry instruments, under the names of the semantic conventions where there are any. */
export function instruments(meter: Meter): EventHandlers {
  return { ...httpInstruments(meter), ...genAiInstruments(meter), ...ownInstruments(meter), ...recoveryInstruments(meter) };
}

function httpInstruments(meter: Meter): EventHandlers {
  const duration = meter.createHistogram('http.client.request.duration', {
    unit: 's',
    description: 'Duration of HTTP client requests.',
    advice: httpSeconds,
  });
  const requestSize = meter.createHistogram('http.client.request.body.size', {
    unit: 'By',
    description: 'Size of HTTP request bodies.',
    advice: byteCounts,
  });
  const responseSize = meter.createHistogram('http.client.response.body.size', {
    unit: 'By',
    description: 'Size of HTTP response bodies.',
    advice: byteCounts,
  });
  const active = meter.createUpDownCounter('http.client.active_requests', { unit: '{request}', description: 'Active HTTP requests.' });
  const retries = meter.createCounter('tinkex.http.retries', { unit: '{request}', description: 'HTTP attempts that were repeated.' });
  const started = new WeakSet<HttpRequestEvent>();
  const common = (event: HttpRequestEvent): Attributes => ({ 'http.request.method': event.method, ...serverAttributes(event.baseUrl) });
  const ended = (event: HttpRequestEvent): void => {
    if (started.delete(event)) active.add(-1, common(event));
    const errorType = httpErrorType(event);
    const attributes: Attributes = {
      'tinkex.request.type': safeText(event.requestType),
      ...common(event),
      ...(event.status === undefined ? {} : { 'http.response.status_code': event.status }),
      ...(errorType === undefined ? {} : { 'error.type': errorType }),
    };
    if (event.durationMs !== undefined) duration.record(event.durationMs / 1_000, attributes);
    requestSize.record(event.requestBytes, attributes);
    if (event.responseBytes !== undefined) responseSize.record(event.responseBytes, attributes);
  };
  return {
    'tinkex:http:request:start': (event) => {
      started.add(event);
      active.add(1, common(event));
    },
    'tinkex:http:request:stop': ended,
    'tinkex:http:request:exception': ended,
    'tinkex:http:request:retry': (event) =>
      retries.add(1, { 'tinkex.request.type': safeText(event.requestType), ...serverAttributes(event.baseUrl) }),
  };
}

function genAiInstruments(meter: Meter): EventHandlers {
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    unit: 's',
    description: 'Duration of sampling calls.',
    advice: workSeconds,
  });
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    unit: '{token}',
    description: 'Tokens in and out of sampling calls.',
    advice: tokenCounts,
  });
  return {
    'tinkex:sampling:call': (event) => {
      const attributes: Attributes = {
        'gen_ai.operation.name': 'text_completion',
        'gen_ai.provider.name': providerName,
        ...serverAttributes(event.baseUrl),
        ...(event.errorCode === undefined ? {} : { 'error.type': safeText(event.errorCode) }),
      };
      duration.record(event.durationMs / 1_000, attributes);
      tokens.record(event.promptTokens, { 'gen_ai.token.type': 'input', ...attributes });
      if (event.errorCode === undefined) tokens.record(event.sampledTokens, { 'gen_ai.token.type': 'output', ...attributes });
    },
  };
}

function ownInstruments(meter: Meter): EventHandlers {
  const operations = meter.createHistogram('tinkex.training.operation.duration', {
    unit: 's',
    description: 'Duration of training calls.',
    advice: workSeconds,
  });
  const trained = meter.createCounter('tinkex.training.tokens', { unit: '{token}', description: 'Tokens in finished training calls.' });
  const futures = meter.createHistogram('tinkex.future.duration', {
    unit: 's',
    description: 'Time from a call to the end of its promise.',
    advice: workSeconds,
  });
  const polls = meter.createCounter('tinkex.future.polls', { unit: '{poll}', description: 'Polls of promises.' });
  const waits = meter.createHistogram('tinkex.rate_limit.wait', {
    unit: 's',
    description: 'Time calls were held by the shared backoff.',
    advice: workSeconds,
  });
  const missed = meter.createCounter('tinkex.session.heartbeats_missed', { unit: '{heartbeat}', description: 'Unanswered heartbeats.' });
  const common = (event: { readonly baseUrl: string; readonly requestType: string }): Attributes => ({
    'tinkex.request.type': safeText(event.requestType),
    ...serverAttributes(event.baseUrl),
  });
  return {
    'tinkex:training:operation': (event) => {
      operations.record(event.durationMs / 1_000, common(event));
      trained.add(event.tokens, common(event));
    },
    'tinkex:future:settled': (event) => futures.record(event.durationMs / 1_000, { 'tinkex.outcome': event.outcome, ...common(event) }),
    'tinkex:future:poll': (event) => polls.add(1, { 'tinkex.outcome': event.outcome, ...common(event) }),
    'tinkex:rate_limit:wait': (event) => waits.record(event.delayMs / 1_000, { ...serverAttributes(event.baseUrl) }),
    'tinkex:session:heartbeat_missed': (event) => missed.add(1, { ...serverAttributes(event.baseUrl) }),
  };
}

function recoveryInstruments(meter: Meter): EventHandlers {
  const events = meter.createCounter('tinkex.recovery.events', {
    unit: '{event}',
    description: 'What recovery monitors saw and did about training runs.',
  });
  const duration = meter.createHistogram('tinkex.recovery.duration', {
    unit: 's',
    description: 'Time from the start of a recovery to the restarted run.',
    advice: workSeconds,
  });
  return recoveryHandlers((kind, { baseUrl, durationMs, errorCode }) => {
    const server = serverAttributes(baseUrl);
    const error = errorCode === undefined ? {} : { 'error.type': safeText(errorCode) };
    events.add(1, { 'tinkex.recovery.kind': kind, ...server, ...error });
    if (kind === 'recovered' && durationMs !== undefined) duration.record(durationMs / 1_000, { ...server });
  });
}
