import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { ConnectionError, ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient, UndiciTransport } from '../../src/index.js';
import { failure } from '../support/failure.js';
import { jsonResponse, RawServer } from '../support/raw-server.js';
import { certificate, privateKey } from '../support/tls.js';

const post = { method: 'POST', path: '/jobs', body: { a: 1 }, pool: 'sample', maxRetries: 0, repeatsOnClosedConnection: true } as const;

/** A server that answers the first request, and does this to the connection when the second has arrived on it. */
function closingServer(close: (socket: Socket) => void, keys: (string | undefined)[] = []): Promise<RawServer> {
  const served = new WeakSet<Socket>();
  return RawServer.start((socket, request) => {
    keys.push(/x-idempotency-key: (\S+)/i.exec(request)?.[1]);
    if (served.has(socket)) close(socket);
    else socket.write(jsonResponse({ ok: true }));
    served.add(socket);
  });
}

/** One connection, so that the second request meets the first one's. */
function clientOf({ url }: RawServer): HttpClient {
  return new HttpClient({ baseUrl: url, maxRetries: 0, transport: new UndiciTransport({ pools: { sample: 1 } }) });
}

/** Tears the connection down when so much of the answer has left. */
function answering(bytes: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(bytes, () => {
      socket.resetAndDestroy();
    });
  };
}

const CLOSE: Readonly<Record<string, (socket: Socket) => void>> = {
  FIN: (socket) => {
    socket.end();
  },
  RST: (socket) => {
    socket.resetAndDestroy();
  },
};

describe('a kept connection that the server has closed', () => {
  it.each(Object.entries(CLOSE))('repeats the request once on a new connection, with the same key (%s)', async (_, close) => {
    const keys: (string | undefined)[] = [];
    await using server = await closingServer(close, keys);
    await using client = clientOf(server);
    await client.request(post);
    const { attempts, data } = await client.request(post).withMetadata();
    expect([attempts, data]).toEqual([2, { ok: true }]);
    expect([server.connections, keys.length]).toEqual([2, 3]);
    expect(keys[2]).toBe(keys[1]);
    expect(keys[1]).not.toBe(keys[0]);
  });

  it.each([
    ['the call does not ask for it', { ...post, repeatsOnClosedConnection: false }, CLOSE['RST']],
    ['a byte of the answer has come', post, answering('H')],
    ['the headers have come', post, answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n')],
  ] as const)('is an error when %s', async (_, request, close) => {
    await using server = await closingServer(close as (socket: Socket) => void);
    await using client = clientOf(server);
    await client.request(request);
    expect(await failure(client.request(request))).toMatchObject({ name: 'ConnectionError', attempts: 1 });
    expect(server.connections).toBe(1);
  });

  it('is an error on a connection that has never answered, and on the one that the repeat opens', async () => {
    let requests = 0;
    await using server = await RawServer.start((socket) => {
      requests += 1;
      if (requests === 2) socket.write(jsonResponse({}));
      else socket.resetAndDestroy();
    });
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
    expect(requests).toBe(1);
    await client.request(post);
    expect(await failure(client.request(post))).toMatchObject({ name: 'ConnectionError', attempts: 2 });
    expect(requests).toBe(4);
  });

  it('is an error on a TLS connection that has only shaken hands', async () => {
    let requests = 0;
    const server = tls.createServer({ cert: certificate, key: privateKey }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        if (requests === 2) socket.write(jsonResponse({}), () => socket.once('data', () => socket.destroy()));
        else socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const transport = new UndiciTransport({ pools: { sample: 1 }, ca: certificate });
    const client = new HttpClient({ baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`, transport, maxRetries: 0 });
    expect(await failure(client.request(post))).toMatchObject({ name: 'ConnectionError', attempts: 1 });
    await client.request(post);
    // The kept connection is closed, and so is the repeat's.
    expect(await failure(client.request(post))).toMatchObject({ name: 'ConnectionError', attempts: 2 });
    await transport.close();
    server.close();
  });

  it('repeats nothing that was answered, whatever the answer', async () => {
    await using server = await closingServer((socket) => socket.end(jsonResponse({}, '503 Busy')));
    await using client = clientOf(server);
    await client.request(post);
    expect(await failure(client.request(post))).toBeInstanceOf(ServerError);
    expect(server.connections).toBe(1);
  });

  it.each(Object.entries(CLOSE))('loses none of 400 requests to a server that hangs up when it likes (%s)', async (_, close) => {
    let received = 0;
    await using server = await RawServer.start((socket) => {
      received += 1;
      const delayMs = received % 4;
      socket.write(jsonResponse({ received }), () => setTimeout(() => close(socket), delayMs));
    });
    await using transport = new UndiciTransport({ pools: { sample: 8 } });
    await using client = new HttpClient({ baseUrl: server.url, transport });
    const lost: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (let call = 0; call < 50; call += 1) await client.request(post).catch((error: unknown) => lost.push(error));
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(lost).toEqual([]);
    expect(received).toBeGreaterThanOrEqual(400);
  });

  it('leaves no connection behind', async () => {
    await using server = await closingServer((socket) => socket.end());
    await using client = clientOf(server);
    await client.request(post);
    await client.request(post);
    await server.drained();
    expect(server.sockets.size).toBe(0);
  });
});

describe('an unrequested 100 Continue', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n';
  const answer = jsonResponse({ text: `${CONTINUE}in the body` });

  it.each([
    ['together with the answer', [CONTINUE + answer]],
    ['twice, in pieces', [CONTINUE, CONTINUE.slice(0, 5), CONTINUE.slice(5, 14), CONTINUE.slice(14) + answer]],
    ['byte by byte', [...`${CONTINUE}${answer}`]],
  ])('is skipped: %s', async (_, pieces) => {
    const send = (socket: Socket, [piece, ...rest]: readonly string[]): void => {
      if (piece !== undefined) socket.setNoDelay(true).write(piece, () => setImmediate(send, socket, rest));
    };
    await using server = await RawServer.start((socket) => send(socket, pieces));
    await using client = clientOf(server);
    for (let call = 0; call < 3; call += 1) expect(await client.request(post)).toEqual({ text: `${CONTINUE}in the body` });
    expect(server.connections).toBe(1);
  });

  it('whose head never ends is an error', async () => {
    await using server = await RawServer.start((socket) => {
      socket.write(`HTTP/1.1 100 Continue\r\n${'x-a: b\r\n'.repeat(10_000)}`);
    });
    await using client = clientOf(server);
    expect(await failure(client.request(post))).toBeInstanceOf(ConnectionError);
  });
});
