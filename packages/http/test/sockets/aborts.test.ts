import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { failure } from '../support/failure.js';
import { Gate } from '../support/gate.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';

const post = { method: 'POST', path: '/jobs', body: { a: 1 }, pool: 'sample' } as const;

describe('aborting', () => {
  it('does not send anything when the signal is aborted already', async () => {
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({})));
    await using client = new HttpClient({ baseUrl: server.url });
    const error = await failure(client.request({ ...post, signal: AbortSignal.abort('enough') }));
    expect(error).toMatchObject({ name: 'AbortError', code: 'TINKEX_ABORTED', cause: 'enough' });
    expect(server.connections).toBe(0);
  });

  it('frees the socket immediately while it waits for headers, and does not retry', async () => {
    const received = new Gate<Socket>();
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      received.open(socket);
    });
    await using client = new HttpClient({ baseUrl: server.url });
    const controller = new AbortController();
    const error = failure(client.request({ ...post, signal: controller.signal }));
    const socket = await received.opened;
    const closed = once(socket, 'close');
    controller.abort(new Error('changed my mind'));
    expect(await error).toBeInstanceOf(AbortedError);
    expect((await error).cause).toEqual(new Error('changed my mind'));
    await closed;
    expect(requests).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('frees the socket while a body is streamed', async () => {
    const received = new Gate<Socket>();
    await using server = await RawServer.start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', () => received.open(socket));
    });
    await using client = new HttpClient({ baseUrl: server.url });
    const controller = new AbortController();
    const { body } = await client.stream({ method: 'GET', path: '/file', signal: controller.signal });
    const iterator = body[Symbol.asyncIterator]();
    expect(Buffer.from((await iterator.next()).value as Uint8Array).toString()).toBe('abc');
    const closed = once(await received.opened, 'close');
    const next = failure(iterator.next());
    controller.abort();
    expect(await next).toBeInstanceOf(AbortedError);
    await closed;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('ends the wait between two attempts immediately', async () => {
    const clock = new VirtualClock();
    await using server = await RawServer.start((socket) => socket.write(jsonResponse({}, '503 Busy')));
    await using client = new HttpClient({ baseUrl: server.url, clock });
    const controller = new AbortController();
    const error = await failure(
      client.request({ ...post, signal: controller.signal, onRetry: () => setImmediate(() => controller.abort()) }),
    );
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.attempts).toBe(1);
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('leaves nothing behind after a thousand aborts in every phase', async () => {
    const clock = new VirtualClock();
    const waiting = new Map<string, AbortController>();
    await using server = await RawServer.start((socket, request) => {
      const [, phase = '', id = ''] = /POST \/(\w+)\/(\d+)/.exec(request) ?? [];
      if (phase === 'body') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
      if (phase === 'answer') socket.write(jsonResponse({ id }));
      else setImmediate(() => waiting.get(id)?.abort());
    });
    const shared = new AbortController();
    await using client = new HttpClient({ baseUrl: server.url, clock, maxRetries: 0 });
    let aborted = 0;
    for (let round = 0; round < 14; round += 1) {
      const calls = Array.from({ length: 100 }, async (_, index) => {
        const id = String(round * 100 + index);
        const phase = ['connect', 'headers', 'body', 'answer'][index % 4] ?? '';
        const own = new AbortController();
        waiting.set(id, own);
        const call = client.request({ method: 'POST', path: `/${phase}/${id}`, pool: 'sample', signal: own.signal });
        const sharedCall = index % 10 === 0 ? client.request({ method: 'POST', path: `/answer/${id}`, signal: shared.signal }) : undefined;
        if (phase === 'connect') own.abort();
        const outcome = await call.catch((error: unknown) => error);
        if (outcome instanceof AbortedError) aborted += 1;
        else expect(outcome).toEqual({ id });
        expect(getEventListeners(own.signal, 'abort')).toHaveLength(0);
        await sharedCall;
      });
      await Promise.all(calls);
    }
    expect(aborted).toBe(1_050);
    expect(getEventListeners(shared.signal, 'abort')).toHaveLength(0);
    expect(clock.pending).toBe(0);
    await client.close();
    await server.drained();
    expect(server.sockets.size).toBe(0);
  });
});
