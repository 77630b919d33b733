import { ConnectionError, TimeoutError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient, type HttpClientOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { failure } from '../support/failure.js';
import { Gate } from '../support/gate.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';

const post = { method: 'POST', path: '/jobs', body: { a: 1 }, pool: 'sample' } as const;

function clientOf(server: RawServer, options: Partial<HttpClientOptions> = {}): HttpClient {
  return new HttpClient({ baseUrl: server.url, maxRetries: 0, ...options });
}

describe('connection faults over real sockets', () => {
  it('reports a refused connection', async () => {
    const server = await RawServer.start(() => undefined);
    const { url } = server;
    await server[Symbol.asyncDispose]();
    await using client = new HttpClient({ baseUrl: url, maxRetries: 0 });
    const error = await failure(client.request(post));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain('ECONNREFUSED');
    expect(error).toMatchObject({ code: 'TINKEX_CONNECTION', isRetryable: true, attempts: 1 });
  });

  it('reports a server that accepts and hangs up', async () => {
    await using server = await RawServer.start(
      () => undefined,
      (socket) => socket.destroy(),
    );
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
  });

  it('reports a reset in the middle of the headers', async () => {
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-ty', () => socket.resetAndDestroy());
    });
    await using client = clientOf(server);
    const error = await failure(client.request(post));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).not.toBeInstanceOf(TimeoutError);
  });

  it('reports a reset in the middle of the body', async () => {
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":', () => socket.resetAndDestroy());
    });
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
  });

  it('reports a body that ends too early', async () => {
    await using server = await RawServer.start((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":');
    });
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
  });

  it('reports a server that does not speak HTTP', async () => {
    await using server = await RawServer.start((socket) => socket.end('220 mail.example.com ESMTP\r\n\r\n'));
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
  });

  it('retries a fault in the body like any other, with the same idempotency key', async () => {
    const keys: (string | undefined)[] = [];
    await using server = await RawServer.start((socket, request, index) => {
      keys.push(/x-idempotency-key: (\S+)/i.exec(request)?.[1]);
      if (index === 0) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":');
      else socket.write(jsonResponse({ ok: true }));
    });
    const clock = new VirtualClock();
    await using client = clientOf(server, { maxRetries: 2, clock, random: () => 0 });
    const retried = new Gate();
    const result = client.request({ ...post, onRetry: () => retried.open() }).withMetadata();
    await retried.opened;
    await clock.advance(500);
    expect(await result).toMatchObject({ data: { ok: true }, attempts: 2, retryDelayMs: 500 });
    expect(keys[0]).toBe(keys[1]);
  });
});

describe('the keep-alive race', () => {
  it('survives a server that closes an idle connection just as the next request is written', async () => {
    let isFirst = true;
    await using server = await RawServer.start((socket, _request, index) => {
      if (index === 0) socket.write(jsonResponse({ index }));
      else if (isFirst) {
        // The request came on the kept connection: the server had already decided to hang up.
        isFirst = false;
        socket.resetAndDestroy();
      } else socket.write(jsonResponse({ index }));
    });
    await using client = clientOf(server, { maxRetries: 3, random: () => 1, clock: instantClock() });
    expect(await client.request(post)).toEqual({ index: 0 });
    const second = await client.request(post).withMetadata();
    expect(second).toMatchObject({ data: { index: 2 }, attempts: 2 });
    expect(server.connections).toBe(2);
  });

  it('opens a new connection when the old one was closed between two requests', async () => {
    await using server = await RawServer.start((socket, _request, index) => socket.end(jsonResponse({ index })));
    await using client = clientOf(server);
    expect(await client.request(post)).toEqual({ index: 0 });
    await server.drained();
    expect(await client.request(post)).toEqual({ index: 1 });
  });
});

/** A clock whose timers fire immediately; deadlines never do, because they are long. */
function instantClock(): VirtualClock {
  const clock = new VirtualClock();
  const original = clock.setTimeout.bind(clock);
  clock.setTimeout = (callback, delayMs) => {
    if (delayMs >= 60_000) return original(callback, delayMs);
    const handle = original(callback, delayMs);
    setImmediate(() => {
      clock.clearTimeout(handle);
      callback();
    });
    return handle;
  };
  return clock;
}
