import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startFetchServer } from '../src/server/index.js';

/** Sends bytes over a raw socket and returns everything that comes back until the server ends the connection. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (bytes) => {
      answer += String(bytes);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

describe('startFetchServer', () => {
  it('serves a handler: method, path, headers, body, status', async () => {
    await using server = await startFetchServer(async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = { method: request.method, target: pathname + search, header: request.headers.get('x-one'), text: await request.text() };
      return Response.json(body, { status: 201, headers: { 'x-two': '2' } });
    });
    const response = await fetch(`${server.url}/a%20b?c=1`, { method: 'POST', headers: { 'x-one': '1' }, body: 'hello' });
    expect([response.status, response.headers.get('x-two')]).toEqual([201, '2']);
    expect(await response.json()).toEqual({ method: 'POST', target: '/a%20b?c=1', header: '1', text: 'hello' });
  });

  it.each([
    ['localhost', 200],
    ['[::1]:80', 200],
    ['app.test', 200],
    ['evil.test', 403],
    ['localhost.evil.test', 403],
  ])('answers under the name %s with %d', async (host, status) => {
    await using server = await startFetchServer(() => new Response('yes'), { allowedHosts: ['app.test'] });
    const answer = await exchange(server.port, `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
  });

  it('gives the handler the host of the connection, whatever the path says', async () => {
    await using server = await startFetchServer((request) => new Response(request.url));
    const answer = await exchange(server.port, 'GET //evil.test/page HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect(answer).toContain('http://localhost//evil.test/page');
  });

  it('answers HEAD without the body, and stops producing it', async () => {
    let cancel = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => {
      cancel = resolve;
    });
    await using server = await startFetchServer(() => new Response(new ReadableStream({ cancel }), { headers: { 'x-one': '1' } }));
    expect((await fetch(server.url, { method: 'HEAD' })).headers.get('x-one')).toBe('1');
    await cancelled;
  });

  it('answers 500 when the handler throws, and keeps the error to itself', async () => {
    await using server = await startFetchServer(() => Promise.reject(new Error('secret')));
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, 'The server failed to answer.\n']);
  });

  it('aborts the signal and cancels the body when the client hangs up', async () => {
    let signal: AbortSignal | undefined;
    let cancel = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => {
      cancel = resolve;
    });
    await using server = await startFetchServer((request) => {
      signal = request.signal;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => controller.enqueue(new Uint8Array(65_536));
      return new Response(new ReadableStream({ pull, cancel }));
    });
    const hangUp = new AbortController();
    const response = await fetch(server.url, { signal: hangUp.signal });
    await response.body?.getReader().read();
    hangUp.abort();
    await cancelled;
    expect(signal?.aborted).toBe(true);
  });

  it('cuts off a body that the handler refuses', async () => {
    await using server = await startFetchServer(() => new Response('no', { status: 413 }));
    const answer = await exchange(server.port, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\nabc');
    expect(answer).toMatch(/^HTTP\/1.1 413 .*connection: close/is);
  });

  it('ends the connection when a body fails in the middle', async () => {
    await using server = await startFetchServer(() => {
      const pieces = [new TextEncoder().encode('half')];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.error(new Error('broken'));
          else controller.enqueue(piece);
        },
      });
      return new Response(body);
    });
    await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow(TypeError);
  });
});
