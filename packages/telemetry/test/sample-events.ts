import { publish } from '@tinkex/http';
import type { EventSource, TinkexEventName, TinkexEvents } from '@tinkex/types';
import { EVENT_NAMES } from '../src/events/catalogue.js';

export const source: EventSource = { clientId: 'client-a', baseUrl: 'https://a.example/api', sessionId: 'session-a' };

const operation = { ...source, callId: 1, requestType: 'ForwardBackward', requestId: 'request-1' };
const http = {
  ...source,
  requestType: 'Sample',
  method: 'POST',
  path: '/api/v1/asample',
  pool: 'sample',
  attempt: 0,
  requestBytes: 128,
  startedAtMs: 1_000,
};

const recovery = { ...source, trainingRunId: 'run' };
const failure = { errorCode: 'TINKEX_CONNECTION', errorName: 'ConnectionError' };

/** One event of each kind, every required field set; `overrides` change any of them. */
export const samples: { readonly [Name in TinkexEventName]: (overrides?: Partial<TinkexEvents[Name]>) => TinkexEvents[Name] } = {
  'tinkex:http:request:start': (overrides) => ({ ...http, ...overrides }),
  'tinkex:http:request:stop': (overrides) => ({ ...http, durationMs: 20, status: 200, responseBytes: 512, requestId: 'r', ...overrides }),
  'tinkex:http:request:exception': (overrides) => ({
    ...http,
    durationMs: 30,
    errorCode: 'TINKEX_CONNECTION',
    errorName: 'ConnectionError',
    ...overrides,
  }),
  'tinkex:http:request:retry': (overrides) => ({
    ...source,
    requestType: 'Sample',
    method: 'POST',
    path: '/api/v1/asample',
    attempt: 0,
    delayMs: 500,
    status: 503,
    ...overrides,
  }),
  'tinkex:future:start': (overrides) => ({ ...operation, callId: 1, startedAtMs: 1_000, ...overrides }),
  'tinkex:future:poll': (overrides) => ({ ...operation, attempt: 0, outcome: 'pending', status: 408, durationMs: 40, ...overrides }),
  'tinkex:future:settled': (overrides) => ({ ...operation, attempt: 2, outcome: 'resolved', durationMs: 90, ...overrides }),
  'tinkex:future:unobserved_failure': (overrides) => ({
    ...operation,
    errorCode: 'TINKEX_REQUEST_FAILED',
    errorName: 'RequestFailedError',
    ...overrides,
  }),
  'tinkex:queue:state_change': (overrides) => ({ ...operation, from: 'active', to: 'paused_capacity', reason: 'busy', ...overrides }),
  'tinkex:session:start': (overrides) => ({ ...source, sessionId: 'session-a', durationMs: 5, ...overrides }),
  'tinkex:session:heartbeat': (overrides) => ({ ...source, sessionId: 'session-a', durationMs: 5, ...overrides }),
  'tinkex:session:heartbeat_missed': (overrides) => ({
    ...source,
    sessionId: 'session-a',
    errorCode: 'TINKEX_TIMEOUT',
    sinceLastSuccessMs: 20_000,
    ...overrides,
  }),
  'tinkex:session:end': (overrides) => ({ ...source, sessionId: 'session-a', durationMs: 60_000, ...overrides }),
  'tinkex:rate_limit:set': (overrides) => ({ ...source, limiterId: 'limiter-1', delayMs: 1_000, ...overrides }),
  'tinkex:rate_limit:cleared': (overrides) => ({ ...source, limiterId: 'limiter-1', delayMs: 0, ...overrides }),
  'tinkex:rate_limit:wait': (overrides) => ({ ...source, limiterId: 'limiter-1', delayMs: 800, ...overrides }),
  'tinkex:chunk:submit': (overrides) => ({
    ...operation,
    modelId: 'model-1',
    seqId: 1,
    chunkIndex: 0,
    chunkCount: 2,
    datums: 1_024,
    estimatedBytes: 5_000,
    durationMs: 12,
    ...overrides,
  }),
  'tinkex:training:operation': (overrides) => ({
    ...operation,
    modelId: 'model-1',
    datums: 8,
    tokens: 1_000,
    lossWeight: 500,
    metrics: { 'loss:mean': 2.5 },
    durationMs: 250,
    ...overrides,
  }),
  'tinkex:sampling:call': (overrides) => ({
    ...operation,
    requestType: 'Sample',
    samplingSessionId: 'sampler-1',
    model: 'tinkex/tiny',
    maxTokens: 16,
    temperature: 0.5,
    finishReasons: ['stop', 'length', 'stop', 'stop'],
    promptTokens: 32,
    samples: 4,
    sampledTokens: 256,
    attempt: 0,
    durationMs: 75,
    ...overrides,
  }),
  'tinkex:checkpoint:save': (overrides) => ({
    ...operation,
    modelId: 'model-1',
    path: 'tinker://run/weights/1',
    durationMs: 400,
    ...overrides,
  }),
  'tinkex:checkpoint:load': (overrides) => ({
    ...operation,
    modelId: 'model-1',
    path: 'tinker://run/weights/1',
    durationMs: 300,
    ...overrides,
  }),
  'tinkex:checkpoint:download': (overrides) => ({
    ...source,
    path: 'tinker://run/weights/1',
    receivedBytes: 4_096,
    totalBytes: 8_192,
    durationMs: 100,
    ...overrides,
  }),
  'tinkex:recovery:broken': (overrides) => ({ ...recovery, ...overrides }),
  'tinkex:recovery:attempt': (overrides) => ({ ...recovery, attempt: 0, path: 'tinker://run/weights/1', ...overrides }),
  'tinkex:recovery:attempt_failed': (overrides) => ({ ...recovery, ...failure, attempt: 0, durationMs: 700, ...overrides }),
  'tinkex:recovery:recovered': (overrides) => ({
    ...recovery,
    attempt: 1,
    path: 'tinker://run/weights/1',
    durationMs: 6_000,
    ...overrides,
  }),
  'tinkex:recovery:given_up': (overrides) => ({ ...recovery, ...failure, durationMs: 9_000, ...overrides }),
  'tinkex:recovery:watch_failed': (overrides) => ({ ...recovery, ...failure, ...overrides }),
};

/** Publishes one event of one kind. */
export function publishSample<Name extends TinkexEventName>(name: Name, overrides?: Partial<TinkexEvents[Name]>): void {
  publish(name, samples[name](overrides));
}

/** Publishes one event of every kind; a start and the stop of the same attempt are one object, as in the real thing. */
export function publishAll(overrides: Partial<EventSource> = {}): void {
  for (const name of EVENT_NAMES) publishOne(name, overrides);
}

function publishOne<Name extends TinkexEventName>(name: Name, overrides: Partial<EventSource>): void {
  publish(name, { ...samples[name](), ...overrides } as TinkexEvents[Name]);
}
