import { inspect } from 'node:util';
import type { ApiStatusError } from '@tinkex/types';
import { expect, it } from 'vitest';
import { apiKeyAuth, createResponse, HttpClient, subscribe } from '../src/index.js';
import { failure } from './support/failure.js';
import { RawServer } from './support/raw-server.js';
import { ScriptedTransport } from './support/scripted-transport.js';

const key = 'not-of-the-usual-form';
const token = 'parameter-Zx81';
const secret = 'edge-secret-9913';

it('a credential that the server echoes stands in no request ID, header, message or event', async () => {
  const headers = { 'x-request-id': `for-${key}`, 'retry-after': secret, 'content-type': 'application/json' };
  const body = { detail: `refused /jobs?token=${token}&x=1 with ${secret}` };
  const transport = new ScriptedTransport([createResponse({ status: 400, headers, body })]);
  const events: unknown[] = [];
  const stop = subscribe('tinkex:http:request:stop', (event) => events.push({ ...event }));
  await using client = new HttpClient({
    baseUrl: 'http://server.test',
    transport,
    auth: apiKeyAuth(key),
    query: { token },
    headers: { 'CF-Access-Client-Secret': secret },
  });
  const error = (await failure(client.request({ method: 'POST', path: '/jobs', maxRetries: 0 }))) as ApiStatusError;
  stop();
  expect(error.requestId).toBe('for-[redacted]');
  const shown = JSON.stringify([events, error, error.message, error.headers, error.stack]);
  for (const value of [key, token, secret]) expect(shown).not.toContain(value);
  expect(events).toHaveLength(1);
});

it.each([
  ['an answer that is not HTTP', `HTTP/1.1 ${key}\r\n\r\n`],
  ['the content type', `HTTP/1.1 200 OK\r\ncontent-type: text/${key}\r\ncontent-length: 1\r\n\r\n1`],
  ['the content encoding', `HTTP/1.1 200 OK\r\ncontent-encoding: ${key}\r\ncontent-length: 1\r\n\r\n1`],
  ['the reason', `HTTP/1.1 500 ${key}\r\ncontent-length: 0\r\n\r\n`],
])('neither is it shown with an error and its causes: %s', async (_, answer) => {
  await using server = await RawServer.start((socket) => socket.end(answer));
  await using client = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth(key), maxRetries: 0 });
  const schema = { decode: (value: unknown) => value };
  const error = await failure(client.request({ method: 'POST', path: '/jobs', schema }));
  expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain(key);
});
