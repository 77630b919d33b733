import { inspect } from 'node:util';
import { ApiStatusError, BadRequestError, ConfigurationError, ConnectionError, RateLimitError, TimeoutError } from '@tinkex/types';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  apiKeyAuth,
  createResponse,
  HttpClient,
  type HttpPromise,
  type HttpResult,
  type Middleware,
  type RetryInfo,
  subscribe,
} from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { failure } from './support/failure.js';
import { ScriptedTransport } from './support/scripted-transport.js';

const baseUrl = 'http://service.test/base';
const ok = () => createResponse({ body: { ok: true } });

function clientOf(transport: ScriptedTransport, options: Partial<ConstructorParameters<typeof HttpClient>[0]> = {}): HttpClient {
  return new HttpClient({ baseUrl, transport, ...options });
}

describe('request', () => {
  it('gives data, or data with the facts of its response', async () => {
    const headers = { 'x-request-id': 'r-1' };
    const transport = new ScriptedTransport([ok(), createResponse({ status: 201, headers, body: { n: 1 } })]);
    const client = clientOf(transport);
    expect(await client.request({ method: 'GET', path: '/a' })).toEqual({ ok: true });
    const result = await client.request({ method: 'GET', path: '/a' }).withMetadata();
    expect(result).toMatchObject({ data: { n: 1 }, status: 201, requestId: 'r-1', attempts: 1, retryDelayMs: 0 });
    expect(result.headers['x-request-id']).toBe('r-1');
  });

  it('announces deprecation notes of final responses, with their level', async () => {
    const noted = (status: number, level?: string) =>
      createResponse({
        status,
        body: {},
        headers: { 'x-deprecation-note': `note ${status}`, ...(level && { 'x-deprecation-level': level }) },
      });
    const notices: unknown[] = [];
    const transport = new ScriptedTransport([noted(503), noted(200), noted(404, ' Error '), ok()]);
    const clock = new VirtualClock();
    const client = clientOf(transport, { clock, random: () => 0, onDeprecation: (notice) => notices.push(notice) });
    await clock.runUntil(client.request({ method: 'GET', path: '/a' }));
    await expect(client.request({ method: 'GET', path: '/a' })).rejects.toMatchObject({ status: 404 });
    await client.request({ method: 'GET', path: '/a' });
    expect(notices).toEqual([
      { note: 'note 200', level: 'warning' },
      { note: 'note 404', level: 'error' },
    ]);
  });

  it('behaves as a promise', async () => {
    const client = clientOf(new ScriptedTransport([ok(), ok(), new ConnectionError({ message: 'x', isRetryable: false })]));
    const order: string[] = [];
    await client.request({ method: 'GET', path: '/a' }).finally(() => order.push('finally'));
    expect(await Promise.all([client.request({ method: 'GET', path: '/a' })])).toEqual([{ ok: true }]);
    expect(await client.request({ method: 'GET', path: '/a' }).catch(() => 'caught')).toBe('caught');
    expect(order).toEqual(['finally']);
  });

  it('checks with a schema, and knows the type', async () => {
    const shape = z.object({ n: z.number() });
    const client = clientOf(new ScriptedTransport([createResponse({ body: { n: 5 } }), createResponse({ body: { n: 5 } })]));
    const call = { method: 'GET', path: '/n', schema: { decode: (value: unknown) => shape.parse(value) } } as const;
    const promise = client.request(call);
    expectTypeOf(promise).toEqualTypeOf<HttpPromise<{ n: number }>>();
    expectTypeOf(promise.withMetadata()).toEqualTypeOf<Promise<HttpResult<{ n: number }>>>();
    expect((await promise).n).toBe(5);
    expect(await client.request({ method: 'GET', path: '/n', parse: ({ bytes, status }) => `${status}:${bytes.byteLength}` })).toBe(
      '200:7',
    );
  });

  it('sends JSON, or bytes with their type', async () => {
    const transport = new ScriptedTransport([ok(), ok()]);
    const client = clientOf(transport);
    await client.request({ method: 'POST', path: '/a', body: { text: 'ü', list: [1, 2] } });
    await client.request({
      method: 'POST',
      path: '/a',
      body: new Uint8Array([1, 2]),
      contentType: 'application/x-protobuf',
      accept: 'application/x-protobuf',
    });
    expect(transport.requests[0]?.body).toBe('{"text":"ü","list":[1,2]}');
    expect(transport.requests[1]?.body).toEqual(new Uint8Array([1, 2]));
    expect(transport.headers('content-type')).toEqual(['application/json', 'application/x-protobuf']);
    expect(transport.headers('accept')).toEqual(['application/json', 'application/x-protobuf']);
  });

  it('refuses bytes without a type, and options that make no sense', async () => {
    const client = clientOf(new ScriptedTransport([]));
    expect(await failure(client.request({ method: 'POST', path: '/a', body: new Uint8Array(1) }))).toBeInstanceOf(ConfigurationError);
    expect(await failure(client.request({ method: 'GET', path: '/a', attemptTimeoutMs: 0 }))).toBeInstanceOf(ConfigurationError);
    expect(await failure(client.request({ method: 'GET', path: '/a', maxResponseBytes: Number.NaN }))).toBeInstanceOf(ConfigurationError);
    expect(() => clientOf(new ScriptedTransport([]), { maxRetries: -1 })).toThrow(ConfigurationError);
    expect(() => clientOf(new ScriptedTransport([]), { acceptEncoding: 'gzip;q=1, ZSTD' })).toThrow('"zstd"');
    expect(() => clientOf(new ScriptedTransport([]), { acceptEncoding: 'gzip;q=1.0, br;q=0.5, identity' })).not.toThrow();
    expect(() => new HttpClient({ baseUrl: 'nonsense' })).toThrow(ConfigurationError);
    expect(() => new HttpClient({ baseUrl: 'ftp://host' })).toThrow(ConfigurationError);
    expect(() => new HttpClient({ baseUrl: 'http://user:pass@host' })).toThrow(ConfigurationError);
  });

  it("merges the client's query and headers under the call's", async () => {
    const transport = new ScriptedTransport([ok()]);
    const client = clientOf(transport, { query: { v: 1, z: 2 }, headers: { 'X-One': 'client', 'X-Two': 'client' } });
    await client.request({ method: 'GET', path: '/a?fixed=1', query: { v: 3 }, headers: { 'x-one': 'call' } });
    expect(transport.requests[0]?.url).toBe(`${baseUrl}/a?fixed=1&v=3&z=2`);
    expect(transport.requests[0]?.headers).toMatchObject({ 'x-one': 'call', 'x-two': 'client' });
  });

  it('hands accepted statuses to parse, without retrying them', async () => {
    const transport = new ScriptedTransport([createResponse({ status: 408, body: { queue_state: 'active' } })]);
    const status = await clientOf(transport).request({ method: 'POST', path: '/poll', acceptStatus: [408], parse: (raw) => raw.status });
    expect(status).toBe(408);
    expect(transport.requests).toHaveLength(1);
  });
});

describe('headers', () => {
  it('name the client, the platform, the call and its limit', async () => {
    const transport = new ScriptedTransport([ok(), ok()]);
    const client = clientOf(transport);
    await client.request({ method: 'POST', path: '/a', body: {}, attemptTimeoutMs: 4_500 });
    await client.request({ method: 'GET', path: '/a' });
    const [post, get] = transport.requests.map((request) => request.headers);
    expect(post).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'x-stainless-package-version': '0.36.0',
      'x-stainless-runtime': 'node',
      'x-stainless-runtime-version': process.version,
      'x-stainless-retry-count': '0',
      'x-stainless-read-timeout': '4.5',
    });
    expect(post?.['user-agent']).toMatch(/^Tinkex\/TypeScript \d+\.\d+\.\d+/);
    expect(post?.['x-idempotency-key']).toMatch(/^tinkex-retry-[0-9a-f-]{36}$/);
    expect(get).toMatchObject({ 'x-stainless-read-timeout': '60' });
    for (const name of ['content-type', 'x-idempotency-key', 'accept-encoding', 'authorization']) expect(get).not.toHaveProperty(name);
  });

  it('can be another client', async () => {
    const transport = new ScriptedTransport([ok()]);
    await clientOf(transport, { userAgent: 'mine/1', sdkVersion: '9.9.9', acceptEncoding: 'gzip' }).request({ method: 'GET', path: '/a' });
    expect(transport.requests[0]?.headers).toMatchObject({
      'user-agent': 'mine/1',
      'x-stainless-package-version': '9.9.9',
      'accept-encoding': 'gzip',
    });
  });
});

describe('retries', () => {
  it('makes exactly one request with maxRetries 0', async () => {
    const transport = new ScriptedTransport([createResponse({ status: 503, body: {} })], true);
    expect(await failure(clientOf(transport).request({ method: 'GET', path: '/a', maxRetries: 0 }))).toMatchObject({
      status: 503,
      attempts: 1,
    });
    expect(transport.requests).toHaveLength(1);
  });

  it('passes onRetry what happened and how long it waits', async () => {
    const clock = new VirtualClock();
    const retries: RetryInfo[] = [];
    const lost = new ConnectionError({ message: 'lost' });
    const transport = new ScriptedTransport([createResponse({ status: 500, body: {} }), lost, ok()]);
    const call = clientOf(transport, { clock, random: () => 0 }).request({
      method: 'GET',
      path: '/a',
      onRetry: (retry) => retries.push(retry),
    });
    expect(await clock.runUntil(call.withMetadata())).toMatchObject({ attempts: 3, retryDelayMs: 1_500 });
    expect(retries).toEqual([
      { attempt: 0, delayMs: 500, status: 500 },
      { attempt: 1, delayMs: 1_000, error: lost },
    ]);
  });

  it('does not begin a wait that the total limit would cut', async () => {
    const clock = new VirtualClock();
    const transport = new ScriptedTransport([() => createResponse({ status: 503, body: {} })], true);
    const error = await clock.runUntil(
      failure(clientOf(transport, { clock, random: () => 0, timeoutMs: 1_000 }).request({ method: 'GET', path: '/a' })),
    );
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ phase: 'total', attempts: 2 });
    expect(clock.waitsMs).toEqual([500]);
  });

  it('are counted on the error of a body that cannot be used, too', async () => {
    const clock = new VirtualClock();
    const transport = new ScriptedTransport([createResponse({ status: 503 }), createResponse({ body: 'not json' })]);
    const schema = { decode: (value: unknown) => value };
    const error = await failure(clock.runUntil(clientOf(transport, { clock }).request({ method: 'GET', path: '/x', schema })));
    expect(error).toMatchObject({ name: 'ValidationError', attempts: 2 });
  });

  it('puts the wait that the server asks for on a RateLimitError', async () => {
    const transport = new ScriptedTransport([createResponse({ status: 429, headers: { 'retry-after-ms': '200' }, body: {} })]);
    const error = await failure(clientOf(transport).request({ method: 'GET', path: '/a', maxRetries: 0 }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).retryAfterMs).toBe(200);
  });
});

describe('the empty 400', () => {
  const empty = () => createResponse({ status: 400 });
  const call = { method: 'POST', path: '/a', pool: 'train', maxRetries: 0 } as const;

  it('is a connection fault sixteen times, then a bad request, and a success earns one back', async () => {
    const answers = [...Array.from({ length: 17 }, empty), ok(), empty(), empty()];
    const transport = new ScriptedTransport(answers);
    const client = clientOf(transport);
    for (let count = 0; count < 16; count += 1) expect(await failure(client.request(call))).toBeInstanceOf(ConnectionError);
    expect(await failure(client.request(call))).toBeInstanceOf(BadRequestError);
    await client.request(call);
    expect(await failure(client.request(call))).toBeInstanceOf(ConnectionError);
    expect(await failure(client.request(call))).toBeInstanceOf(BadRequestError);
    expect(transport.recycled).toEqual(Array.from({ length: 17 }, () => 'train http://service.test'));
  });

  it('is counted per pool', async () => {
    const client = clientOf(new ScriptedTransport([empty], true));
    for (let count = 0; count < 16; count += 1) await failure(client.request(call));
    expect(await failure(client.request(call))).toBeInstanceOf(BadRequestError);
    expect(await failure(client.request({ ...call, pool: 'sample' }))).toBeInstanceOf(ConnectionError);
  });

  it('is a real answer when it is JSON without a length', async () => {
    const { body } = createResponse({ body: '{"detail":"no"}' });
    const transport = new ScriptedTransport([{ status: 400, headers: { 'content-type': 'application/json' }, body }]);
    expect(await failure(clientOf(transport).request(call))).toBeInstanceOf(BadRequestError);
  });
});

describe('middleware', () => {
  it('runs around each attempt, first one outermost, and never sees the key', async () => {
    const log: string[] = [];
    const trace =
      (name: string): Middleware =>
      async (request, next) => {
        log.push(`${name} in ${request.headers['x-api-key'] ?? 'no key'}`);
        const response = await next({ ...request, headers: { ...request.headers, [`x-${name}`]: '1' } });
        log.push(`${name} out ${response.status}`);
        return response;
      };
    const clock = new VirtualClock();
    const transport = new ScriptedTransport([createResponse({ status: 503, body: {} }), ok()]);
    const client = clientOf(transport, { clock, auth: apiKeyAuth('tml-k'), middleware: [trace('a'), trace('b')] });
    await clock.runUntil(client.request({ method: 'GET', path: '/x' }));
    expect(log).toEqual(['a in no key', 'b in no key', 'b out 503', 'a out 503', 'a in no key', 'b in no key', 'b out 200', 'a out 200']);
    expect(transport.requests[1]?.headers).toMatchObject({ 'x-a': '1', 'x-b': '1', 'x-api-key': 'tml-k', 'x-stainless-retry-count': '1' });
  });

  it('may answer without next', async () => {
    const transport = new ScriptedTransport([]);
    const client = clientOf(transport, { middleware: [async () => createResponse({ body: { cached: true } })] });
    expect(await client.request({ method: 'GET', path: '/x' })).toEqual({ cached: true });
    expect(transport.requests).toHaveLength(0);
  });

  it('is ended by the deadline even when it ignores its signal', async () => {
    const clock = new VirtualClock();
    const client = clientOf(new ScriptedTransport([]), {
      clock,
      attemptTimeoutMs: 100,
      maxRetries: 0,
      middleware: [() => new Promise(() => undefined)],
    });
    const error = failure(client.request({ method: 'GET', path: '/x' }));
    await clock.advance(100);
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'headers' });
    expect(clock.pending).toBe(0);
  });

  it('may throw without a promise, and nothing is left behind', async () => {
    const clock = new VirtualClock();
    const careless: Middleware = () => {
      throw new RangeError('mine');
    };
    const client = clientOf(new ScriptedTransport([]), { clock, middleware: [careless] });
    expect(await failure(client.request({ method: 'GET', path: '/x' }))).toEqual(new RangeError('mine'));
    expect(clock.pending).toBe(0);
  });

  it('ends the call with what it throws', async () => {
    const client = clientOf(new ScriptedTransport([]), { middleware: [() => Promise.reject(new RangeError('mine'))] });
    expect(await failure(client.request({ method: 'GET', path: '/x' }))).toEqual(new RangeError('mine'));
  });
});

describe('secrets', () => {
  it('are in no part of an error', async () => {
    const echo = createResponse({
      status: 500,
      headers: { 'set-cookie': 'session=tml-secret-cookie', 'x-echo': 'tml-secret-key' },
      body: { detail: 'key tml-secret-key refused' },
    });
    const client = clientOf(new ScriptedTransport([echo]), { auth: apiKeyAuth('tml-secret-key') });
    const error = await failure(client.request({ method: 'GET', path: '/a', query: { signature: 'tml-secret-query' }, maxRetries: 0 }));
    expect(ApiStatusError.isInstance(error)).toBe(true);
    const shown = [inspect(error, { depth: 9 }), JSON.stringify(error), error.message, error.stack].join('\n');
    for (const secret of ['secret-key', 'secret-cookie', 'secret-query']) expect(shown).not.toContain(secret);
  });

  it('are not shown when they come with the path, neither in an error nor in an event', async () => {
    const paths: string[] = [];
    const end = subscribe('tinkex:http:request:stop', ({ path, requestType }) => void paths.push(path, requestType));
    const transport = new ScriptedTransport([createResponse({ status: 404 })]);
    const error = await failure(clientOf(transport).request({ method: 'GET', path: '/file?sig=hunter2', query: { part: 1 } }));
    end();
    expect(transport.requests[0]?.url).toBe(`${baseUrl}/file?sig=hunter2&part=1`);
    expect(inspect(error)).not.toContain('hunter2');
    expect(paths).toEqual(['/file', 'GET /file']);
  });
});

describe('close', () => {
  it('ends a call that is still compressing its body, before anything is sent', async () => {
    const transport = new ScriptedTransport([ok()]);
    const client = clientOf(transport);
    const call = failure(client.request({ method: 'POST', path: '/x', body: { n: 1 }, compress: 'zstd' }));
    await client.close();
    expect((await call).name).toBe('AbortError');
    expect(transport.requests).toHaveLength(0);
  });

  it('leaves a transport that was handed in open', async () => {
    const transport = new ScriptedTransport([]);
    const client = clientOf(transport);
    await client.close();
    await client[Symbol.asyncDispose]();
    expect(transport.closed).toBe(0);
  });
});
