import { ApiStatusError, ConnectionError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { apiKeyAuth, HttpClient } from '../../src/index.js';
import { failure } from '../support/failure.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';

const KEY = 'tml-very-secret';

function moved(location: string, status = '302 Found'): string {
  return `HTTP/1.1 ${status}\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
}

describe('redirects', () => {
  it('follows a read to another origin without the key and without any other private header', async () => {
    const foreign: string[] = [];
    await using elsewhere = await RawServer.start((socket, request) => {
      foreign.push(request.toLowerCase());
      socket.write(jsonResponse({ from: 'elsewhere' }));
    });
    await using home = await RawServer.start((socket) => socket.write(moved(`${elsewhere.url}/file?signature=abc`)));
    await using client = new HttpClient({
      baseUrl: home.url,
      auth: apiKeyAuth(KEY),
      headers: { 'CF-Access-Client-Secret': 's3cret', 'X-Own': 'mine' },
    });
    expect(await client.request({ method: 'GET', path: '/x' })).toEqual({ from: 'elsewhere' });
    expect(foreign).toHaveLength(1);
    for (const secret of [KEY, 'x-api-key', 's3cret', 'x-own', 'x-stainless']) expect(foreign[0]).not.toContain(secret);
    expect(foreign[0]).toContain('get /file?signature=abc');
    expect(foreign[0]).toContain('accept: application/json');
  });

  it('keeps the key inside the origin', async () => {
    const requests: string[] = [];
    await using home = await RawServer.start((socket, request) => {
      requests.push(request);
      socket.write(requests.length === 1 ? moved('/y') : jsonResponse({ ok: true }));
    });
    await using client = new HttpClient({ baseUrl: home.url, auth: apiKeyAuth(KEY) });
    expect(await client.request({ method: 'GET', path: '/x' })).toEqual({ ok: true });
    expect(requests[1]).toContain('GET /y');
    expect(requests[1]).toContain(KEY);
  });

  it('does not get the key back when a chain returns home by way of another origin', async () => {
    const homeRequests: string[] = [];
    await using elsewhere = await RawServer.start((socket) => socket.write(moved(`${home.url}/back`)));
    await using home = await RawServer.start((socket, request) => {
      homeRequests.push(request);
      socket.write(homeRequests.length === 1 ? moved(`${elsewhere.url}/there`) : jsonResponse({}));
    });
    await using client = new HttpClient({ baseUrl: home.url, auth: apiKeyAuth(KEY) });
    await client.request({ method: 'GET', path: '/x' });
    expect(homeRequests[1]).not.toContain(KEY);
  });

  it('gives up after five hops, once', async () => {
    let hops = 0;
    await using home = await RawServer.start((socket) => {
      hops += 1;
      socket.write(moved(`/hop/${hops}`));
    });
    await using client = new HttpClient({ baseUrl: home.url });
    const error = await failure(client.request({ method: 'GET', path: '/x' }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toContain('more than 5 times');
    expect(hops).toBe(6);
  });

  it('does not resend a write to another origin, nor turn it into a read', async () => {
    let foreign = 0;
    await using elsewhere = await RawServer.start((socket) => {
      foreign += 1;
      socket.write(jsonResponse({}));
    });
    let status = '307 Temporary Redirect';
    await using home = await RawServer.start((socket) => socket.write(moved(`${elsewhere.url}/x`, status)));
    await using client = new HttpClient({ baseUrl: home.url, maxRetries: 0 });
    expect(await failure(client.request({ method: 'POST', path: '/x', body: {} }))).toMatchObject({ status: 307 });
    status = '302 Found';
    expect(await failure(client.request({ method: 'POST', path: '/x', body: {} }))).toMatchObject({ status: 302 });
    expect(foreign).toBe(0);
  });

  it('resends a write inside its origin when the server says 307', async () => {
    const requests: string[] = [];
    await using home = await RawServer.start((socket, request) => {
      requests.push(request);
      socket.write(requests.length === 1 ? moved('/y', '307 Temporary Redirect') : jsonResponse({ ok: true }));
    });
    await using client = new HttpClient({ baseUrl: home.url });
    expect(await client.request({ method: 'POST', path: '/x', body: { a: 1 } })).toEqual({ ok: true });
    expect(requests[1]).toMatch(/^POST \/y .*\{"a":1\}$/s);
  });

  it('hands the redirect to the caller who asks for it', async () => {
    await using home = await RawServer.start((socket) => socket.write(moved('https://storage.test/archive?signature=abc')));
    await using client = new HttpClient({ baseUrl: home.url });
    const call = { method: 'GET', path: '/archive', redirect: 'manual' } as const;
    const location = await client.request({ ...call, acceptStatus: [302], parse: ({ headers }) => headers['location'] });
    expect(location).toBe('https://storage.test/archive?signature=abc');
    const error = await failure(client.request(call));
    expect(error).toBeInstanceOf(ApiStatusError);
    expect(JSON.stringify(error)).not.toContain('signature');
  });
});
