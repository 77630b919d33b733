import { once } from 'node:events';
import type { Socket } from 'node:net';
import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient, type HttpClientOptions, UndiciTransport } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { failure } from '../support/failure.js';
import { Gate } from '../support/gate.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';

const post = { method: 'POST', path: '/jobs', body: { a: 1 }, pool: 'sample' } as const;

function clientOf(server: RawServer, options: Partial<HttpClientOptions> = {}): HttpClient {
  return new HttpClient({ baseUrl: server.url, maxRetries: 0, ...options });
}

describe('stalls', () => {
  it('names the connect phase when the TLS handshake never ends', async () => {
    const clock = new VirtualClock();
    const accepted = new Gate();
    await using server = await RawServer.start(
      () => undefined,
      () => accepted.open(),
    );
    await using client = new HttpClient({ baseUrl: server.url.replace('http:', 'https:'), maxRetries: 0, attemptTimeoutMs: 1_000, clock });
    const error = failure(client.request(post));
    await accepted.opened;
    await clock.advance(1_000);
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'connect', isRetryable: true });
  });

  it('names the headers phase when the server takes the request and says nothing, and frees the socket', async () => {
    const clock = new VirtualClock();
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => received.open(socket));
    await using client = clientOf(server, { attemptTimeoutMs: 1_000, clock });
    const error = failure(client.request(post));
    const socket = await received.opened;
    await clock.advance(999);
    expect(socket.destroyed).toBe(false);
    const closed = once(socket, 'close');
    await clock.advance(1);
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'headers', attempts: 1 });
    await closed;
    expect(clock.pending).toBe(0);
  });

  it('names the body phase when the body stops, and frees the socket', async () => {
    const clock = new VirtualClock();
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"', () => received.open(socket));
    });
    const seen = new Gate();
    await using client = clientOf(server, {
      attemptTimeoutMs: 1_000,
      clock,
      middleware: [async (request, next) => next(request).finally(() => seen.open())],
    });
    const error = failure(client.request(post));
    const socket = await received.opened;
    await seen.opened;
    const closed = once(socket, 'close');
    await clock.advance(1_000);
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'body' });
    await closed;
  });

  it('does not let a slow drip of bytes outlive the deadline', async () => {
    const clock = new VirtualClock();
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', () => received.open(socket));
    });
    const seen = new Gate();
    await using client = clientOf(server, {
      attemptTimeoutMs: 1_000,
      clock,
      middleware: [async (request, next) => next(request).finally(() => seen.open())],
    });
    const error = failure(client.request(post));
    const socket = await received.opened;
    await seen.opened;
    for (let byte = 0; byte < 10; byte += 1) {
      await new Promise<void>((resolve) => socket.write('x', () => resolve()));
      await clock.advance(100);
    }
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'body' });
  });

  it('counts the wait for a free connection as connecting', async () => {
    const clock = new VirtualClock();
    const held = new Gate<Socket>();
    await using server = await RawServer.start((socket) => held.open(socket));
    await using transport = new UndiciTransport({ pools: { sample: 1 } });
    await using client = clientOf(server, { transport, clock });
    const first = client.request({ ...post, attemptTimeoutMs: 10_000 });
    const socket = await held.opened;
    const second = failure(client.request({ ...post, attemptTimeoutMs: 1_000 }));
    await clock.advance(1_000);
    expect(await second).toMatchObject({ name: 'TimeoutError', phase: 'connect' });
    socket.write(jsonResponse({ ok: 1 }));
    expect(await first).toEqual({ ok: 1 });
    expect(server.connections).toBe(1);
  });

  it('ends the whole call at the total limit, in the middle of an attempt', async () => {
    const clock = new VirtualClock();
    const received = new Gate();
    await using server = await RawServer.start(() => received.open());
    await using client = clientOf(server, { attemptTimeoutMs: 60_000, timeoutMs: 1_500, maxRetries: 5, clock });
    const error = failure(client.request(post));
    await received.opened;
    await clock.advance(1_500);
    expect(await error).toMatchObject({ name: 'TimeoutError', phase: 'total', attempts: 1 });
  });
});

describe('closing', () => {
  it('ends a call that is waiting for headers, and one that waits for its retry', async () => {
    const received = new Gate();
    await using server = await RawServer.start((socket, request) => {
      if (request.includes('/busy')) socket.write(jsonResponse({}, '503 Busy'));
      else received.open();
    });
    const clock = new VirtualClock();
    const client = clientOf(server, { clock, maxRetries: 5 });
    const stalled = failure(client.request(post));
    const retried = new Gate();
    const retrying = failure(client.request({ ...post, path: '/busy', onRetry: () => retried.open() }));
    await Promise.all([received.opened, retried.opened]);
    await client.close();
    expect(await stalled).toBeInstanceOf(AbortedError);
    expect(await retrying).toBeInstanceOf(AbortedError);
    expect(await failure(client.request(post))).toBeInstanceOf(AbortedError);
    expect(clock.pending).toBe(0);
    await server.drained();
    await client.close();
  });
});
