import { gzipSync } from 'node:zlib';
import { ApiStatusError, ConnectionError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient, type HttpClientOptions } from '../../src/index.js';
import { failure } from '../support/failure.js';
import { RawServer } from '../support/raw-server.js';

const post = { method: 'POST', path: '/jobs', body: { a: 1 }, pool: 'sample' } as const;

function clientOf(server: RawServer, options: Partial<HttpClientOptions> = {}): HttpClient {
  return new HttpClient({ baseUrl: server.url, maxRetries: 0, ...options });
}

describe('bodies that cannot be used', () => {
  it.each([
    ['announced', 'content-length: 2000\r\n\r\n', 'x'.repeat(2_000)],
    ['unannounced', 'transfer-encoding: chunked\r\n\r\n', `7d0\r\n${'x'.repeat(2_000)}\r\n0\r\n\r\n`],
  ])('refuses an oversized body (%s) once, and frees the socket', async (_name, head, body) => {
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      socket.write(`HTTP/1.1 200 OK\r\n${head}${body}`);
    });
    await using client = clientOf(server, { maxResponseBytes: 1_000, maxRetries: 5 });
    const error = await failure(client.request(post));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toContain('1000 bytes');
    expect(requests).toBe(1);
  });

  it('says that a gzip body is cut off, and treats it as a connection fault', async () => {
    const zipped = gzipSync(JSON.stringify({ a: 'x'.repeat(5_000) }));
    const cut = zipped.subarray(0, zipped.length - 12);
    await using server = await RawServer.start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${cut.length}\r\n\r\n`);
      socket.write(cut);
    });
    await using client = clientOf(server);
    const error = await failure(client.request(post));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/gzip body .* ends too early/);
  });

  it('unpacks a gzip body, within the size limit', async () => {
    const zipped = gzipSync(JSON.stringify({ a: 'x'.repeat(5_000) }));
    await using server = await RawServer.start((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`,
      );
      socket.write(zipped);
    });
    await using client = clientOf(server);
    expect(await client.request(post)).toEqual({ a: 'x'.repeat(5_000) });
    expect(await failure(client.request({ ...post, maxResponseBytes: 1_000 }))).toBeInstanceOf(ValidationError);
  });

  it('refuses another content type where a schema expects JSON, without retrying', async () => {
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: 6\r\n\r\n<html>');
    });
    await using client = clientOf(server, { maxRetries: 5 });
    const error = await failure(client.request({ ...post, schema: { decode: (value) => value } }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toContain('text/html');
    expect(requests).toBe(1);
  });

  it('refuses JSON that is none, without retrying', async () => {
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"a":');
    });
    await using client = clientOf(server, { maxRetries: 5 });
    expect(await failure(client.request(post))).toBeInstanceOf(ValidationError);
    expect(requests).toBe(1);
  });

  it("gives a proxy's HTML error page as a status error with the page as its body", async () => {
    const page = '<html><body><h1>502 Bad Gateway</h1></body></html>';
    await using server = await RawServer.start((socket) => {
      socket.write(`HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\n\r\n${page}`);
    });
    await using client = clientOf(server);
    const error = (await failure(client.request({ ...post, schema: { decode: (value) => value } }))) as ApiStatusError;
    expect(error).toBeInstanceOf(ApiStatusError);
    expect(error).toMatchObject({ name: 'ServerError', status: 502, body: page });
  });

  it('gives undefined for an empty 204, and an error when a schema wants more', async () => {
    await using server = await RawServer.start((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    await using client = clientOf(server);
    expect(await client.request({ method: 'DELETE', path: '/x' })).toBeUndefined();
    expect(await failure(client.request({ ...post, schema: { decode: (value) => value } }))).toBeInstanceOf(ValidationError);
  });

  it('does not count the length that an answer to HEAD only talks about', async () => {
    await using server = await RawServer.start((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000000000\r\n\r\n'));
    await using client = new HttpClient({ baseUrl: server.url, maxResponseBytes: 1_000 });
    const { data, headers } = await client.request({ method: 'HEAD', path: '/x' }).withMetadata();
    expect(data).toBeUndefined();
    expect(headers['content-length']).toBe('5000000000');
  });
});
