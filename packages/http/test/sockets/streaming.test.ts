import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ConnectionError, NotFoundError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { createResponse, HttpClient } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { failure } from '../support/failure.js';
import { Gate } from '../support/gate.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';
import { ScriptedTransport } from '../support/scripted-transport.js';
import { turn } from '../support/turn.js';

const get = { method: 'GET', path: '/file' } as const;

describe('streaming', () => {
  it('holds only a window of a large body while it is not read', async () => {
    const size = 64 * 1024 * 1024;
    const block = Buffer.alloc(64 * 1024, 7);
    let written = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': size });
      const pump = (): void => {
        while (written < size) {
          written += block.length;
          if (!response.write(block)) {
            response.once('drain', pump);
            return;
          }
        }
        response.end();
      };
      pump();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using client = new HttpClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const { body, headers } = await client.stream(get);
    expect(headers['content-length']).toBe(String(size));
    let received = 0;
    let furthestAhead = 0;
    for await (const chunk of body) {
      received += chunk.byteLength;
      furthestAhead = Math.max(furthestAhead, written - received);
      // A slow reader: the server could run far ahead.
      if (received < 4 * 1024 * 1024) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(received).toBe(size);
    expect(furthestAhead).toBeLessThan(16 * 1024 * 1024);
    server.close();
  });

  it('frees the connection when the reader leaves early', async () => {
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc');
      received.open(socket);
    });
    await using client = new HttpClient({ baseUrl: server.url });
    const { body } = await client.stream(get);
    const closed = received.opened.then((socket) => once(socket, 'close'));
    for await (const chunk of body) {
      expect(chunk.byteLength).toBe(3);
      break;
    }
    await closed;
  });

  it('frees the connection of a response that is canceled unread', async () => {
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc');
      received.open(socket);
    });
    await using client = new HttpClient({ baseUrl: server.url });
    const response = await client.stream(get);
    const closed = received.opened.then((socket) => once(socket, 'close'));
    response.cancel();
    await closed;
  });

  it('limits the wait for the next bytes, not the whole download', async () => {
    const clock = new VirtualClock();
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\na');
      received.open(socket);
    });
    await using client = new HttpClient({ baseUrl: server.url, clock, attemptTimeoutMs: 1_000, maxRetries: 0 });
    const { body } = await client.stream(get);
    const iterator = body[Symbol.asyncIterator]();
    const socket = await received.opened;
    await iterator.next();
    for (let step = 0; step < 5; step += 1) {
      const next = iterator.next();
      await clock.advance(900);
      socket.write('b');
      expect((await next).done).toBe(false);
    }
    const stalled = failure(iterator.next());
    await clock.advance(1_000);
    expect(await stalled).toMatchObject({ name: 'TimeoutError', phase: 'body' });
    expect(clock.pending).toBe(0);
  });

  it('retries until there are headers, and throws for a response that is not a success', async () => {
    const clock = new VirtualClock();
    await using server = await RawServer.start((socket, _request, index) => {
      socket.write(index === 0 ? jsonResponse({}, '503 Busy') : jsonResponse({ detail: 'gone' }, '404 Not Found'));
    });
    await using client = new HttpClient({ baseUrl: server.url, clock, random: () => 0 });
    const retried = new Gate();
    const error = failure(client.stream({ ...get, onRetry: () => retried.open() }));
    await retried.opened;
    await clock.advance(500);
    expect(await error).toBeInstanceOf(NotFoundError);
    expect((await error).attempts).toBe(2);
  });

  it('does not wait again once it was aborted, so that the client can close', async () => {
    const clock = new VirtualClock();
    let isStuck = false;
    const response = createResponse({ body: 'abc' });
    // A body that has one chunk ready and ignores its cancellation.
    const stubborn = {
      ...response.body,
      async *[Symbol.asyncIterator]() {
        yield new Uint8Array(3);
        isStuck = true;
        await new Promise(() => undefined);
      },
    };
    const client = new HttpClient({
      baseUrl: 'http://service.test',
      transport: new ScriptedTransport([{ ...response, body: stubborn }]),
      clock,
    });
    const controller = new AbortController();
    const { body } = await client.stream({ ...get, signal: controller.signal });
    const reader = body[Symbol.asyncIterator]();
    const first = reader.next();
    controller.abort();
    expect((await first).value).toHaveLength(3);
    void reader.next();
    await turn();
    expect(isStuck).toBe(true);
    expect(clock.pending).toBe(0);
    await client.close();
  });

  it('unpacks as it goes, and notices a cut', async () => {
    const zipped = gzipSync(Buffer.alloc(200_000, 'text '));
    let cut = 0;
    await using server = await RawServer.start((socket) => {
      const sent = zipped.subarray(0, zipped.length - cut);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${sent.length}\r\n\r\n`);
      socket.write(sent);
    });
    await using client = new HttpClient({ baseUrl: server.url });
    const read = async (): Promise<number> => {
      let size = 0;
      for await (const chunk of (await client.stream(get)).body) size += chunk.byteLength;
      return size;
    };
    expect(await read()).toBe(200_000);
    cut = 20;
    const error = await failure(read());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain('gzip');
  });

  it('drops an encoded body that is not read, without an error', async () => {
    const zipped = gzipSync(randomBytes(200_000));
    await using server = await RawServer.start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`);
      socket.write(zipped.subarray(0, 100));
    });
    const uncaught: unknown[] = [];
    const listen = (error: unknown): unknown => uncaught.push(error);
    process.on('uncaughtException', listen);
    const client = new HttpClient({ baseUrl: server.url });
    const { body } = await client.stream(get);
    await turn();
    await client.close();
    await server.drained();
    await turn();
    process.off('uncaughtException', listen);
    expect(uncaught).toEqual([]);
    expect((await failure(body[Symbol.asyncIterator]().next())).name).toBe('AbortError');
  });

  it('frees the connection of a body that it cannot unpack', async () => {
    const closed = new Gate();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: secret\r\ncontent-length: 100\r\n\r\nabc');
      socket.on('close', () => closed.open());
    });
    await using client = new HttpClient({ baseUrl: server.url });
    expect(await failure(client.stream(get))).toBeInstanceOf(ValidationError);
    await closed.opened;
  });

  it('decodes nothing without a body', async () => {
    await using server = await RawServer.start((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 80\r\n\r\n'),
    );
    await using client = new HttpClient({ baseUrl: server.url });
    const { body } = await client.stream({ ...get, method: 'HEAD' });
    expect((await body[Symbol.asyncIterator]().next()).done).toBe(true);
  });

  it('does not take a packed body that breaks before its first byte for an empty one', async () => {
    const response = createResponse({ headers: { 'content-encoding': 'gzip' } });
    const broken = {
      ...response.body,
      // A transport of the user's own: its errors are not ours.
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the cable is out')) }),
    };
    const transport = new ScriptedTransport([{ ...response, body: broken }]);
    const { body } = await new HttpClient({ baseUrl: 'http://service.test', transport }).stream(get);
    const error = await failure(body[Symbol.asyncIterator]().next());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.cause).toMatchObject({ message: 'the cable is out' });
  });

  it('stops a body that grows beyond the limit', async () => {
    await using server = await RawServer.start((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5_000)}`),
    );
    await using client = new HttpClient({ baseUrl: server.url, maxResponseBytes: 1_000 });
    const { body } = await client.stream(get);
    const read = async (): Promise<void> => {
      for await (const chunk of body) expect(chunk.byteLength).toBeGreaterThan(0);
    };
    expect(await failure(read())).toBeInstanceOf(ValidationError);
  });
});
