import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../src/index.js';
import { rawTest } from './fixture.js';

/** Sends bytes and returns all that comes back until the server ends the connection. */
async function exchange(server: TestServer, send: (socket: Socket) => void): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  await once(socket, 'connect');
  send(socket);
  await closed;
  return received;
}

describe('a server among other programs', () => {
  it('answers only to names that it was given', async () => {
    await using server = await startServer({ engine: 'canned', allowedHosts: ['Tinker.internal'] });
    const get = (host: string) =>
      exchange(server, (socket) => socket.write(`GET /api/v1/healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
    expect(await get('tinker.internal:8000')).toMatch(/^HTTP\/1.1 200/);
    expect(await get('evil.example')).toMatch(/^HTTP\/1.1 421[\s\S]*--allow-host/);
  });

  it('gives up on headers that never end', async () => {
    await using server = await startServer({ engine: 'canned', headersTimeoutMs: 50 });
    expect(await exchange(server, (socket) => socket.write('GET /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\n'))).toMatch(
      /^HTTP\/1.1 408/,
    );
    expect(server.openSockets).toBe(0);
  });

  it.each([
    ['declared', 'Content-Length: 1073741824'],
    ['sent', 'Transfer-Encoding: chunked'],
  ])('does not read a body whose %s size is above the limit', async (_how, header) => {
    await using server = await startServer({ engine: 'canned', maxBodyBytes: 100 });
    let sent = 0;
    const answer = await exchange(server, (socket) => {
      socket.write(`POST /api/v1/create_session HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
      const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
      const more = (): void => {
        if (socket.destroyed || sent > 1 << 30) return;
        sent += chunk.length;
        socket.write(chunk, () => setImmediate(more));
      };
      more();
    });
    // A client that writes on may lose the answer to the reset that follows it.
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1.1 413/);
    expect(sent).toBeLessThan(64 << 20);
    expect(server.count('createSession')).toBe(1);
  });

  rawTest('refuses checkpoint names that mean something to a file system', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    for (const name of ['.', '..', '...', 'a\u0000b', 'a\u001bb', 'a/b']) {
      const body = { model_id: modelId, path: name, seq_id: 1, overwrite: false, type: 'save_weights' };
      expect((await client.post('save_weights', body)).status, JSON.stringify(name)).toBe(400);
    }
  });
});
