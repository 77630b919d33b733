import { gzipSync } from 'node:zlib';
import { ConnectionError, ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { createResponse, HttpClient, systemClock, type Transport } from '../../src/index.js';
import { failure } from '../support/failure.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';

const get = { method: 'GET', path: '/x' } as const;
/** Waits between attempts end immediately. */
const hastyClock = {
  ...systemClock,
  setTimeout: (callback: () => void, delayMs: number) => (delayMs < 30_000 ? setImmediate(callback) : undefined),
  clearTimeout: (handle: unknown) => clearImmediate(handle as NodeJS.Immediate | undefined),
};

describe('a hostile server', () => {
  it.each([
    ['packed', gzipSync(Buffer.alloc(8 * 1024 * 1024)), 'content-encoding: gzip\r\n'],
    ['plain', Buffer.alloc(2 * 1024 * 1024), ''],
    ['in an unknown encoding', Buffer.from('x'), 'content-encoding: nonsense\r\n'],
  ])('cannot turn a 503 into something else with its body (%s)', async (_name, body, header) => {
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      if (requests > 2) {
        socket.write(jsonResponse({ ok: true }));
        return;
      }
      socket.write(`HTTP/1.1 503 Service Unavailable\r\n${header}content-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    await using client = new HttpClient({ baseUrl: server.url, maxRetries: 2, clock: hastyClock, random: () => 0 });
    expect(await client.request(get)).toEqual({ ok: true });
    requests = 0;
    await using once = new HttpClient({ baseUrl: server.url, maxRetries: 0 });
    expect(await failure(once.request(get))).toBeInstanceOf(ServerError);
  });

  it('gets a body of single bytes through, whole', async () => {
    await using server = await RawServer.start((socket) => {
      const text = JSON.stringify({ text: 'a'.repeat(20_000) });
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write(`${[...text].map((character) => `1\r\n${character}\r\n`).join('')}0\r\n\r\n`);
    });
    await using client = new HttpClient({ baseUrl: server.url, maxRetries: 0 });
    expect(await client.request(get)).toEqual({ text: 'a'.repeat(20_000) });
  });

  it('cannot lead a call from https to http', async () => {
    const asked: string[] = [];
    const transport: Transport = {
      send: async ({ url }) => {
        asked.push(url);
        const headers = { location: 'http://api.example.com/elsewhere' };
        return createResponse({ status: 302, headers, body: new Uint8Array(0) });
      },
      close: async () => undefined,
    };
    await using client = new HttpClient({ baseUrl: 'https://api.example.com', transport, maxRetries: 3 });
    const error = await failure(client.request(get));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain('without TLS');
    expect(asked).toEqual(['https://api.example.com/x']);
  });
});
