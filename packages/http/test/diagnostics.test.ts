import diagnostics from 'node:diagnostics_channel';
import { ConnectionError, type HttpRequestEvent, type HttpRetryEvent } from '@tinkex/types';
import { afterEach, describe, expect, it } from 'vitest';
import { apiKeyAuth, createResponse, HttpClient, hasSubscribers, publish, subscribe } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { failure } from './support/failure.js';
import { ScriptedTransport } from './support/scripted-transport.js';

const baseUrl = 'http://service.test/base';
const subscriptions: (() => void)[] = [];

afterEach(() => {
  for (const end of subscriptions.splice(0)) end();
});

describe('events', () => {
  it('cover each attempt from start to end on one object, and each retry', async () => {
    const clock = new VirtualClock();
    const seen: [string, HttpRequestEvent][] = [];
    const retries: HttpRetryEvent[] = [];
    const retriesOf = (event: HttpRetryEvent) => void retries.push(event);
    for (const name of ['start', 'stop', 'exception'] as const) {
      subscriptions.push(subscribe(`tinkex:http:request:${name}`, (event) => void seen.push([name, event])));
    }
    subscriptions.push(subscribe('tinkex:http:request:retry', retriesOf));
    const transport = new ScriptedTransport([
      new ConnectionError({ message: 'lost' }),
      createResponse({ status: 200, headers: { 'x-request-id': 'r-9' }, body: { ok: 1 } }),
    ]);
    const source = () => ({ clientId: 'c-1', baseUrl, sessionId: 's-1' });
    const client = new HttpClient({ baseUrl, transport, clock, random: () => 0, auth: apiKeyAuth('tml-secret'), source });
    await clock.runUntil(
      client.request({ method: 'POST', path: '/a', body: { n: 1 }, query: { token: 'tml-q' }, pool: 'sample', requestType: 'Sample' }),
    );
    expect(seen.map(([name]) => name)).toEqual(['start', 'exception', 'start', 'stop']);
    expect(seen[0]?.[1]).toBe(seen[1]?.[1]);
    expect(seen[2]?.[1]).toBe(seen[3]?.[1]);
    expect(seen[1]?.[1]).toMatchObject({
      clientId: 'c-1',
      sessionId: 's-1',
      baseUrl,
      attempt: 0,
      errorCode: 'TINKEX_CONNECTION',
      errorName: 'ConnectionError',
      durationMs: 0,
    });
    expect(seen[3]?.[1]).toMatchObject({
      requestType: 'Sample',
      method: 'POST',
      path: '/a',
      pool: 'sample',
      attempt: 1,
      status: 200,
      durationMs: 0,
      requestBytes: 7,
      responseBytes: 8,
      requestId: 'r-9',
    });
    expect(retries).toEqual([
      {
        clientId: 'c-1',
        sessionId: 's-1',
        baseUrl,
        requestType: 'Sample',
        method: 'POST',
        path: '/a',
        attempt: 0,
        delayMs: 500,
        errorCode: 'TINKEX_CONNECTION',
      },
    ]);
    expect(JSON.stringify([seen, retries])).not.toMatch(/tml-/);
  });

  it('cost nothing without subscribers: the source is not even asked', async () => {
    let asked = 0;
    const source = () => {
      asked += 1;
      return { clientId: 'c', baseUrl };
    };
    const client = new HttpClient({ baseUrl, transport: new ScriptedTransport([createResponse({ body: {} })]), source });
    expect(hasSubscribers('tinkex:http:request:start')).toBe(false);
    await client.request({ method: 'GET', path: '/a' });
    expect(asked).toBe(0);
  });

  it('are not disturbed by a subscriber that throws', async () => {
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown) => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    let calls = 0;
    const end = subscribe('tinkex:http:request:start', () => {
      calls += 1;
      throw new Error('bad subscriber');
    });
    subscriptions.push(end);
    const client = new HttpClient({ baseUrl, transport: new ScriptedTransport([() => createResponse({ body: { ok: 1 } })], true) });
    expect(await client.request({ method: 'GET', path: '/a' })).toEqual({ ok: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toBe(1);
    end();
    end();
    await client.request({ method: 'GET', path: '/a' });
    expect(calls).toBe(1);
    process.off('uncaughtException', onUncaught);
    expect(uncaught).toEqual([]);
  });

  it('travel on plain node:diagnostics_channel', () => {
    const received: unknown[] = [];
    const listener = (message: unknown): void => void received.push(message);
    diagnostics.subscribe('tinkex:session:end', listener);
    publish('tinkex:session:end', { clientId: 'c', baseUrl, sessionId: 's' });
    diagnostics.unsubscribe('tinkex:session:end', listener);
    publish('tinkex:session:end', { clientId: 'c', baseUrl, sessionId: 's' });
    expect(received).toEqual([{ clientId: 'c', baseUrl, sessionId: 's' }]);
  });

  it('show the whole failure to a subscriber of nothing else', async () => {
    const clock = new VirtualClock({ startMs: 1_000 });
    const seen: HttpRequestEvent[] = [];
    subscriptions.push(subscribe('tinkex:http:request:exception', (event) => void seen.push(event)));
    const client = new HttpClient({ baseUrl, clock, transport: new ScriptedTransport([() => new Promise(() => undefined)]) });
    const failed = failure(client.request({ method: 'POST', path: '/a', body: { n: 1 }, attemptTimeoutMs: 250, maxRetries: 0 }));
    await clock.advance(250);
    await failed;
    expect(seen).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/a',
        baseUrl,
        attempt: 0,
        requestBytes: 7,
        startedAtMs: 1_000,
        durationMs: 250,
        errorCode: 'TINKEX_TIMEOUT',
      }),
    ]);
  });

  it('name what was thrown when it is not a TinkexError', async () => {
    const seen: HttpRequestEvent[] = [];
    subscriptions.push(subscribe('tinkex:http:request:exception', (event) => void seen.push(event)));
    const client = new HttpClient({ baseUrl, transport: new ScriptedTransport([new RangeError('private text')]) });
    await failure(client.request({ method: 'GET', path: '/a' }));
    expect(seen[0]).toMatchObject({ errorName: 'RangeError' });
    expect(JSON.stringify(seen)).not.toContain('private text');
  });
});
