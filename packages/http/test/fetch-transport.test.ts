import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { localChannels } from '../src/diagnostics/local-channels.js';
import { FetchTransport } from '../src/fetch/index.js';
import { defaultTransport, HttpClient } from '../src/index.js';
import { runtimeFacts } from '../src/runtime/index.js';
import { realOne } from '../src/transport/load-undici.js';
import { failure } from './support/failure.js';
import { Gate } from './support/gate.js';
import { jsonResponse, RawServer } from './support/raw-server.js';

const get = { method: 'GET', path: '/x' } as const;

describe('FetchTransport', () => {
  it('sends method, headers and body, and asks for no encoding', async () => {
    const seen: string[] = [];
    await using server = await RawServer.start((socket, request) => {
      seen.push(request);
      socket.write(jsonResponse({ ok: 1 }, '201 Created', ['x-request-id: r-1']));
    });
    await using transport = new FetchTransport();
    await using client = new HttpClient({ baseUrl: server.url, transport });
    const call = client.request({ method: 'POST', path: '/x', body: { n: 1 }, headers: { 'x-mine': 'yes' } });
    expect(await call.withMetadata()).toMatchObject({ data: { ok: 1 }, status: 201, requestId: 'r-1', attempts: 1 });
    expect(seen[0]).toMatch(/^POST \/x HTTP/);
    expect(seen[0]).toMatch(/x-mine: yes/i);
    expect(seen[0]).toMatch(/accept-encoding: identity/i);
    expect(seen[0]).toContain('{"n":1}');
  });

  it('does not decode again what fetch has decoded, and limits the decoded size', async () => {
    const packed = gzipSync(JSON.stringify({ text: 'a'.repeat(5_000) }));
    await using server = await RawServer.start((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`,
      );
      socket.write(packed);
    });
    await using transport = new FetchTransport();
    await using client = new HttpClient({ baseUrl: server.url, transport });
    expect(await client.request(get)).toEqual({ text: 'a'.repeat(5_000) });
    expect(await failure(client.request({ ...get, maxResponseBytes: 1_000 }))).toMatchObject({ name: 'ValidationError' });
  });

  it('never follows a redirect; the pipeline does, without the credential of another origin', async () => {
    await using server = await RawServer.start((socket, request) => {
      socket.write(
        request.startsWith('GET /x') ? 'HTTP/1.1 307 Temporary\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n' : jsonResponse({ at: 'y' }),
      );
    });
    await using transport = new FetchTransport();
    expect(await transport.send({ method: 'GET', url: `${server.url}/x`, headers: {}, pool: 'p' })).toMatchObject({ status: 307 });
    await using client = new HttpClient({ baseUrl: server.url, transport });
    expect(await client.request(get)).toEqual({ at: 'y' });
  });

  it('reports a refused connection like undici, and shows only the origin of a URL that the runtime quotes', async () => {
    const gone = await RawServer.start(() => undefined);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await using transport = new FetchTransport();
    await using client = new HttpClient({ baseUrl: url, transport, maxRetries: 0 });
    const refused = await failure(client.request(get));
    expect(refused).toMatchObject({ name: 'ConnectionError', isRetryable: true });
    expect(String(refused)).toContain('ECONNREFUSED');

    const quoting = new FetchTransport({
      fetch: async (address) => Promise.reject(new TypeError(`error sending request for url (${address}): refused`)),
    });
    const quoted = await failure(quoting.send({ method: 'GET', url: 'https://store.test/a?sig=secret', headers: {}, pool: 'p' }));
    expect(String(quoted)).toContain('https://store.test): refused');
    expect(JSON.stringify([String(quoted), String((quoted as Error).cause)])).not.toContain('secret');
  });

  it('frees the socket when the caller aborts, before the headers and within the body', async () => {
    const sockets: Socket[] = [];
    const asked = new Gate();
    await using server = await RawServer.start((socket, _request, index) => {
      sockets.push(socket);
      if (index === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
      asked.open();
    });
    await using transport = new FetchTransport();
    await using client = new HttpClient({ baseUrl: server.url, transport, maxRetries: 0 });
    const controller = new AbortController();
    const call = failure(client.request({ ...get, signal: controller.signal }));
    await asked.opened;
    const closed = once(sockets[0] as Socket, 'close');
    controller.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
    await closed;

    const { body } = await client.stream(get);
    const left = once(sockets[1] as Socket, 'close');
    for await (const chunk of body) {
      expect(chunk.byteLength).toBe(3);
      break;
    }
    await left;
  });

  it('ends what is open when it is closed, and takes nothing after that', async () => {
    const asked = new Gate();
    await using server = await RawServer.start(() => asked.open());
    const transport = new FetchTransport();
    const request = { method: 'GET', url: `${server.url}/x`, headers: {}, pool: 'p' };
    const open = failure(transport.send(request));
    await asked.opened;
    await transport.close();
    expect(await open).toMatchObject({ name: 'AbortError', message: 'The transport is closed.' });
    expect(await failure(transport.send(request))).toMatchObject({ message: 'The transport is closed.' });
  });

  it('adds what the runtime offers to each fetch', async () => {
    const inits: object[] = [];
    const transport = new FetchTransport({
      init: { proxy: 'http://proxy.test' },
      fetch: async (_url, init) => {
        inits.push(init);
        return new Response('{}');
      },
    });
    await transport.send({ method: 'GET', url: 'http://service.test/x', headers: {}, pool: 'p' });
    expect(inits).toMatchObject([{ proxy: 'http://proxy.test', method: 'GET', redirect: 'manual' }]);
  });
});

describe('the default transport', () => {
  it('takes a library without dispatchers, such as the one in Bun, for none', () => {
    class Stub {}
    expect(realOne({ Pool: Stub } as never)).toBeUndefined();
    expect(realOne({})).toBeUndefined();
  });

  it('reads a wrong proxy immediately, and is closed for good', async () => {
    expect(() => defaultTransport({ proxy: { httpProxy: 'ftp://x' } })).toThrow('proxy.httpProxy');
    const transport = defaultTransport();
    await transport.close();
    const request = { method: 'GET', url: 'http://127.0.0.1:1/', headers: {}, pool: 'p' };
    expect(await failure(transport.send(request))).toMatchObject({ message: 'The transport is closed.' });
  });
});

describe('other runtimes', () => {
  it('are called by their own names', () => {
    expect(runtimeFacts()).toMatchObject({ runtime: 'node', runtimeVersion: process.version, platform: process.platform });
    const versions = { node: '24.3.0', bun: '1.4.4' } as never;
    expect(runtimeFacts({ process: { versions, platform: 'linux', arch: 'x64' } })).toMatchObject({
      runtime: 'bun',
      runtimeVersion: 'v1.4.4',
    });
    expect(runtimeFacts({})).toEqual({ runtime: 'unknown', runtimeVersion: 'unknown', platform: 'unknown', arch: 'unknown' });
  });

  it('have local channels', () => {
    const channels = localChannels();
    const seen: unknown[] = [];
    const listener = (message: unknown): number => seen.push(message);
    const channel = channels.channel('a');
    channel.publish(1);
    channels.subscribe('a', listener);
    expect(channel.hasSubscribers).toBe(true);
    channel.publish(2);
    expect(channels.unsubscribe('a', listener)).toBe(true);
    channel.publish(3);
    expect(seen).toEqual([2]);
    expect(channel.hasSubscribers).toBe(false);
  });
});
