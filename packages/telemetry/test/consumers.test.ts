import { subscribe as subscribeRaw } from 'node:diagnostics_channel';
import { apiKeyAuth, type Clock, HttpClient, hasSubscribers, systemClock } from '@tinkex/http';
import { describe, expect, it } from 'vitest';
import { attachLogger, attachMetrics, attachProgress, EVENT_NAMES } from '../src/index.js';
import { attachOpenTelemetry } from '../src/otel/index.js';
import { ServiceReporter } from '../src/reporter/index.js';
import { collectingSink } from './collecting-sink.js';
import { startLoopback } from './loopback.js';
import { publishAll } from './sample-events.js';

/** Waits end immediately, but for time limits. */
const impatientClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) => (delayMs < 10_000 ? setImmediate(callback) : undefined),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
};

function makeClient(baseUrl: string, key: string, clock: Clock = impatientClock): HttpClient {
  return new HttpClient({ baseUrl, auth: apiKeyAuth(key), clock, random: () => 0 });
}

const sixty = (client: HttpClient, tokens: readonly number[]) =>
  Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      client.request({ method: 'POST', path: '/api/v1/asample', body: { index, tokens }, requestType: 'Sample' }),
    ),
  );

describe('logger and metrics on two clients', () => {
  it('see every request of both, with retries; the filtered ones see their own; no key is anywhere; detaching stops them', async () => {
    let refusals = 3;
    await using one = await startLoopback(() => (refusals-- > 0 ? { status: 503 } : {}));
    await using two = await startLoopback(() => ({}));
    await using first = makeClient(one.url, 'tml-key-of-the-first');
    await using second = makeClient(two.url, 'tml-key-of-the-second');
    const sink = collectingSink();
    using logger = attachLogger({ level: 'debug', sink });
    using metrics = attachMetrics();
    using onlySecond = attachMetrics({ baseUrl: `${two.url}/` });

    await Promise.all([sixty(first, [1]), sixty(second, [2])]);

    const stops = sink.lines.filter(({ fields }) => fields['event'] === 'tinkex:http:request:stop');
    expect(stops).toHaveLength(123);
    expect(new Set(stops.map(({ fields }) => fields['baseUrl']))).toEqual(new Set([one.url, two.url]));
    expect(metrics.total('tinkex_http_requests_total', { base_url: one.url, status: '200' })).toBe(60);
    expect(metrics.total('tinkex_http_requests_total', { base_url: one.url, status: '503' })).toBe(3);
    expect(metrics.total('tinkex_http_retries_total')).toBe(3);
    expect(metrics.total('tinkex_http_requests_in_flight')).toBe(0);
    expect(onlySecond.total('tinkex_http_requests_total')).toBe(60);
    expect(JSON.stringify([sink.lines, metrics.snapshot(), metrics.prometheus()])).not.toContain('tml-');

    logger.detach();
    metrics.detach();
    const lines = sink.lines.length;
    await first.request({ method: 'GET', path: '/healthz' });
    expect(sink.lines).toHaveLength(lines);
    expect(metrics.total('tinkex_http_requests_total')).toBe(123);
    expect([logger.errors, metrics.errors]).toEqual([0, 0]);
  });

  it('leave no subscription behind', () => {
    const attachments = [
      attachLogger({ level: 'debug', sink: collectingSink() }),
      attachMetrics(),
      attachProgress({ stream: { write: () => true } }),
      attachOpenTelemetry(),
    ];
    expect(EVENT_NAMES.every((name) => hasSubscribers(name))).toBe(true);
    for (const attachment of attachments) attachment.detach();
    expect(EVENT_NAMES.filter((name) => hasSubscribers(name))).toEqual([]);
  });
});

describe('consumers that misbehave', () => {
  it('change nothing for the application when all of them throw on every event', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    await using server = await startLoopback(() => ({ body: { fine: true } }));
    await using client = makeClient(server.url, 'tml-key');
    const options = { onError: () => undefined };
    using logger = attachLogger({ level: 'debug', sink: { debug: fail, info: fail, warn: fail, error: fail }, ...options });
    using metrics = attachMetrics({ filter: fail, ...options });
    using progress = attachProgress({ stream: { write: fail }, intervalMs: 0, ...options });
    expect(await client.request({ method: 'GET', path: '/x' })).toEqual({ fine: true });
    expect(() => publishAll()).not.toThrow();
    expect(logger.errors).toBe(2 + EVENT_NAMES.length);
    expect(metrics.errors).toBeGreaterThan(2); // not every event has a metric
    expect(progress.errors).toBeGreaterThan(0);
  });

  it('do not disturb each other', () => {
    const sink = collectingSink();
    using _broken = attachLogger({
      level: 'debug',
      sink: { ...sink, info: () => JSON.parse('{') },
      onError: () => undefined,
    });
    using metrics = attachMetrics();
    publishAll();
    expect(metrics.total('tinkex_sessions_total')).toBe(2);
  });

  it('a sink that never finishes its writes holds nothing up', async () => {
    await using server = await startLoopback(() => ({ body: { fine: true } }));
    await using client = makeClient(server.url, 'tml-key');
    const forever = (): Promise<never> => new Promise(() => undefined);
    using logger = attachLogger({
      level: 'debug',
      sink: { debug: forever, info: forever, warn: forever, error: forever },
      maxPendingWrites: 5,
    });
    await sixty(client, []);
    expect([logger.lines, logger.dropped]).toEqual([5, 115]);
  });
});

describe('the service reporter over HTTP', () => {
  it('sends what the service takes, and takes its answer', async () => {
    await using server = await startLoopback(() => ({ body: { status: 'accepted' } }));
    await using client = makeClient(server.url, 'tml-key', systemClock);
    const reporter = new ServiceReporter({ http: client, sessionId: 'session-1', sdkVersion: '0.25.0' });
    reporter.start();
    reporter.capture(new Error('boom'), { fatal: true });
    await reporter.close();
    const [body] = server.bodies.get('/api/v1/telemetry') ?? [];
    const request = JSON.parse(body ?? '{}') as { events: Record<string, unknown>[] };
    expect(request).toMatchObject({
      session_id: 'session-1',
      sdk_version: '0.25.0',
      platform: expect.any(String),
      process_uuid: expect.any(String),
    });
    expect(request.events.map(({ event, event_session_index: index }) => [event, index])).toEqual([
      ['SESSION_START', 0],
      ['UNHANDLED_EXCEPTION', 1],
      ['SESSION_END', 2],
    ]);
    expect(request.events[1]).toMatchObject({
      error_type: 'Error',
      error_message: 'boom',
      traceback: expect.any(String),
      severity: 'ERROR',
    });
    expect(reporter.status).toMatchObject({ sent: 3, dropped: 0 });
  });

  it('leaves a server alone that has no such endpoint', async () => {
    await using server = await startLoopback(() => ({ status: 404 }));
    await using client = makeClient(server.url, 'tml-key', systemClock);
    await using reporter = new ServiceReporter({ http: client, sessionId: 'session-1', sdkVersion: '0.25.0' });
    reporter.start();
    await reporter.flush();
    reporter.capture(new Error('boom'));
    await reporter.flush();
    expect(server.bodies.get('/api/v1/telemetry')).toHaveLength(1);
    expect(reporter.status.isStopped).toBe(true);
  });

  it('does not resend what was answered with another word', async () => {
    await using server = await startLoopback(() => ({ body: { status: 'perhaps' } }));
    await using client = makeClient(server.url, 'tml-key', systemClock);
    await using reporter = new ServiceReporter({ http: client, sessionId: 'session-1', sdkVersion: '0.25.0' });
    reporter.start();
    await reporter.flush();
    expect(server.bodies.get('/api/v1/telemetry')).toHaveLength(1);
    expect(reporter.status).toMatchObject({ sent: 0, dropped: 1 });
  });
});

describe('raw subscribers', () => {
  it('see the same object at the start and at the end of an attempt', async () => {
    const seen: unknown[] = [];
    const listener = (event: unknown): void => void seen.push(event);
    subscribeRaw('tinkex:http:request:start', listener);
    subscribeRaw('tinkex:http:request:stop', listener);
    await using server = await startLoopback(() => ({}));
    await using client = makeClient(server.url, 'tml-key', systemClock);
    await client.request({ method: 'GET', path: '/x' });
    const { unsubscribe } = await import('node:diagnostics_channel');
    unsubscribe('tinkex:http:request:start', listener);
    unsubscribe('tinkex:http:request:stop', listener);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
  });
});
