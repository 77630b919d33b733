import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createSecureServer } from 'node:http2';
import net, { type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { ConfigurationError } from '@tinkex/types';
import { Agent } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { proxyFromEnvironment } from '../src/environment.js';
import { type Clock, HttpClient, systemClock, UndiciTransport } from '../src/index.js';
import { failure } from './support/failure.js';
import { Gate } from './support/gate.js';
import { jsonResponse, RawServer } from './support/raw-server.js';
import { certificate, privateKey } from './support/tls.js';

const closers: (() => unknown)[] = [];

/** Waits between attempts end immediately, deadlines do not. */
const impatientClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) => systemClock.setTimeout(callback, delayMs < 10_000 ? 0 : delayMs),
};

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server | net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** A forward proxy that tunnels, and notes where to. */
async function startProxy(): Promise<{ url: string; targets: string[] }> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createHttpServer();
  proxy.on('connect', (request, client: Socket) => {
    targets.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const upstream = net.connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
  });
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${await listen(proxy)}`, targets };
}

describe('pools', () => {
  it('open no more connections than their limit, counted per pool', async () => {
    const waiting: Socket[] = [];
    const bothFull = new Gate();
    await using server = await RawServer.start((socket) => {
      waiting.push(socket);
      if (waiting.length === 5) bothFull.open();
    });
    await using transport = new UndiciTransport({ pools: { sample: 2, train: 3 } });
    await using client = new HttpClient({ baseUrl: server.url, transport });
    const calls = ['sample', 'sample', 'sample', 'train', 'train', 'train', 'train'].map((pool) =>
      client.request({ method: 'POST', path: '/x', pool }),
    );
    await bothFull.opened;
    expect(server.connections).toBe(5);
    for (let answered = 0; answered < calls.length; answered += 1) {
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      waiting.shift()?.write(jsonResponse({}));
    }
    await Promise.all(calls);
    expect(server.connections).toBe(5);
  });

  it('keep their connections for the next request', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({})));
    await using client = new HttpClient({ baseUrl: server.url });
    for (let count = 0; count < 20; count += 1) await client.request({ method: 'POST', path: '/x', pool: 'train' });
    // Two, because undici rests a connection for one turn of the loop before it is used again.
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('open a new connection after an empty 400', async () => {
    await using server = await RawServer.start((socket, _request, index) => {
      socket.write(index === 0 ? 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n' : jsonResponse({ ok: 1 }));
    });
    await using client = new HttpClient({ baseUrl: server.url, maxRetries: 0 });
    expect(await failure(client.request({ method: 'POST', path: '/x' }))).toMatchObject({ name: 'ConnectionError' });
    expect(await client.request({ method: 'POST', path: '/x' })).toEqual({ ok: 1 });
    expect(server.connections).toBe(2);
  });
});

describe('close', () => {
  it('ends what is under way on connections that were given up, too', async () => {
    const asked = new Gate<Socket>();
    await using server = await RawServer.start((socket) => asked.open(socket));
    const transport = new UndiciTransport();
    const call = failure(transport.send({ method: 'GET', url: `${server.url}/x`, headers: {}, pool: 'sample' }));
    const closed = once(await asked.opened, 'close');
    transport.recycle('sample', server.url);
    await transport.close();
    expect(await call).toMatchObject({ name: 'AbortError', message: 'The transport is closed.' });
    await closed;
  });
});

describe("a dispatcher of the user's own", () => {
  it('is used, and never closed by us', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({ ok: 1 })));
    const dispatcher = new Agent();
    const dispatch = vi.spyOn(dispatcher, 'dispatch');
    const transport = new UndiciTransport({ dispatcher });
    const client = new HttpClient({ baseUrl: server.url, transport });
    expect(await client.request({ method: 'GET', path: '/x' })).toEqual({ ok: 1 });
    await client.close();
    await transport.close();
    expect(dispatch).toHaveBeenCalledOnce();
    expect(dispatcher.closed).toBe(false);
    expect(dispatcher.destroyed).toBe(false);
    await dispatcher.close();
  });
});

describe('proxies', () => {
  it('are taken from the environment, except for hosts that are excluded', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({ ok: 1 })));
    const proxy = await startProxy();
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('http_proxy', proxy.url);
    vi.stubEnv('NO_PROXY', '');
    vi.stubEnv('no_proxy', '');
    await using proxied = new HttpClient({ baseUrl: server.url });
    expect(await proxied.request({ method: 'POST', path: '/x', body: {} })).toEqual({ ok: 1 });
    expect(proxy.targets).toEqual([new URL(server.url).host]);
    vi.stubEnv('no_proxy', '127.0.0.1');
    await using direct = new HttpClient({ baseUrl: server.url });
    expect(await direct.request({ method: 'GET', path: '/x' })).toEqual({ ok: 1 });
    expect(proxy.targets).toHaveLength(1);
  });

  it('can be named in code, or switched off', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({ ok: 1 })));
    const proxy = await startProxy();
    await using named = new UndiciTransport({ proxy: { httpProxy: proxy.url } });
    expect(await new HttpClient({ baseUrl: server.url, transport: named }).request({ method: 'GET', path: '/x' })).toEqual({ ok: 1 });
    expect(proxy.targets).toHaveLength(1);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('http_proxy', proxy.url);
    await using off = new UndiciTransport({ proxy: false });
    expect(await new HttpClient({ baseUrl: server.url, transport: off }).request({ method: 'GET', path: '/x' })).toEqual({ ok: 1 });
    expect(proxy.targets).toHaveLength(1);
  });

  it('may be named by host and port alone', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({ ok: 1 })));
    const proxy = await startProxy();
    await using transport = new UndiciTransport({ proxy: { httpProxy: new URL(proxy.url).host } });
    expect(await new HttpClient({ baseUrl: server.url, transport }).request({ method: 'GET', path: '/x' })).toEqual({ ok: 1 });
    expect(proxy.targets).toHaveLength(1);
  });

  it.each(['http://user:hunter2@pro xy:1', 'ftp://hunter2.internal'])(
    'are rejected immediately when they are not URLs, without being shown: %s',
    (text) => {
      vi.stubEnv('https_proxy', text);
      const attempts = [() => new UndiciTransport({ proxy: { httpProxy: text } }), () => new HttpClient({ baseUrl: 'http://x' })];
      const errors = attempts.map((attempt) => {
        try {
          attempt();
        } catch (error) {
          return error as ConfigurationError;
        }
        throw new Error('The proxy was taken.');
      });
      expect(errors.map(({ environmentVariable, option }) => environmentVariable ?? option)).toEqual(['proxy.httpProxy', 'HTTPS_PROXY']);
      for (const error of errors) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(inspect(error)).not.toContain('hunter2');
      }
    },
  );

  it.each([
    [502, 3],
    [407, 1],
  ])('that refuse a tunnel with %i are a connection fault, tried %i times', async (status, attempts) => {
    let refused = 0;
    const proxy = createHttpServer();
    proxy.on('connect', (_request, socket: Socket) => {
      refused += 1;
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    });
    await using transport = new UndiciTransport({ proxy: { httpProxy: `http://127.0.0.1:${await listen(proxy)}` } });
    await using client = new HttpClient({ baseUrl: 'http://api.example.com', transport, clock: impatientClock, maxRetries: 2 });
    const error = await failure(client.request({ method: 'GET', path: '/x' }));
    expect(error).toMatchObject({ name: 'ConnectionError', attempts });
    expect(error.message).toBe(`The proxy refused to connect to http://api.example.com (status ${status}).`);
    expect(refused).toBe(attempts);
  });

  it('are read as everybody reads them', () => {
    expect(proxyFromEnvironment({})).toBeUndefined();
    expect(proxyFromEnvironment({ NO_PROXY: 'x' })).toBeUndefined();
    expect(proxyFromEnvironment({ HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2', NO_PROXY: 'a,b' })).toEqual({
      httpProxy: '',
      httpsProxy: 'http://q:2',
      noProxy: 'a,b',
    });
  });
});

describe('TLS', () => {
  async function startSecure(): Promise<{ url: string; versions: string[] }> {
    const versions: string[] = [];
    const server = createSecureServer({ key: privateKey, cert: certificate, allowHTTP1: true }, (request, response) => {
      versions.push(request.httpVersion);
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":1}'));
    });
    return { url: `https://localhost:${await listen(server)}`, versions };
  }

  it('speaks HTTP/1.1 by default, and HTTP/2 when asked to', async () => {
    const server = await startSecure();
    for (const http2 of [false, true]) {
      await using transport = new UndiciTransport({ ca: certificate, http2 });
      await using client = new HttpClient({ baseUrl: server.url, transport });
      expect(await client.request({ method: 'POST', path: '/x', body: { a: 1 } })).toEqual({ ok: 1 });
    }
    expect(server.versions).toEqual(['1.1', '2.0']);
  });

  it('believes the certificates it was given behind a proxy, too', async () => {
    const server = await startSecure();
    const proxy = await startProxy();
    await using transport = new UndiciTransport({ ca: certificate, http2: true, proxy: { httpsProxy: proxy.url } });
    await using client = new HttpClient({ baseUrl: server.url, transport, maxRetries: 0 });
    expect(await client.request({ method: 'POST', path: '/x', body: { a: 1 } })).toEqual({ ok: 1 });
    expect(proxy.targets).toEqual([new URL(server.url).host]);
    expect(server.versions).toEqual(['2.0']);
  });

  it('rejects a certificate that no authority has signed', async () => {
    const server = await startSecure();
    await using client = new HttpClient({ baseUrl: server.url, maxRetries: 0 });
    const error = await failure(client.request({ method: 'GET', path: '/x' }));
    expect(error.message).toMatch(/self.signed|DEPTH_ZERO/i);
  });
});

describe('requests that cannot be sent', () => {
  it('fail immediately and are not retried', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({})));
    await using client = new HttpClient({ baseUrl: server.url });
    const error = await failure(client.request({ method: 'GET', path: '/x', headers: { 'x-bad': 'line\nbreak' } }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.attempts).toBe(1);
    expect(error.message).not.toContain('break');
  });
});
