import { subscribe } from '@tinkex/http';
import { describe, expect, it, vi } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import { answersInOrder } from '../../test/support/scripted-transport.js';
import type { ServerMessage } from '../connection/connection-options.js';

describe('session', () => {
  it('sends heartbeats every interval from the first on, whatever they are answered, until it is closed', async () => {
    const server = miniServer();
    server.routes.set(
      'session_heartbeat',
      answersInOrder([{ body: {} }, { status: 404, body: {} }, { connection_error: true }, { body: {} }], true),
    );
    await server.clock.runUntil(server.service.sessionId());
    const start = server.clock.elapsedMs;
    await server.clock.advance(50_000);
    expect(server.transport.of('session_heartbeat').map(({ atMs }) => atMs - start)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000]);
    expect(server.transport.of('session_heartbeat')[0]?.body).toEqual({ session_id: 'S', type: 'session_heartbeat' });
    await server.service.close();
    await server.clock.advance(100_000);
    expect(server.transport.of('session_heartbeat')).toHaveLength(5);
    expect(server.clock.pending).toBe(0);
  });

  it('stops beating when the server says that the session has finished, with one message', async () => {
    const messages: ServerMessage[] = [];
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message) });
    server.routes.set('session_heartbeat', answersInOrder([{ body: {} }, { status: 410, body: { detail: 'finished' } }], true));
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(100_000);
    expect(server.transport.of('session_heartbeat')).toHaveLength(2);
    expect(messages).toEqual([{ level: 'warning', text: expect.stringContaining('The session S has finished on the server') }]);
    await server.service.close();
    expect(server.clock.pending).toBe(0);
  });

  it('warns after 120 s of silence, with every further failed beat, and stops warning after an answer', async () => {
    const messages: ServerMessage[] = [];
    const missed: number[] = [];
    const stop = subscribe('tinkex:session:heartbeat_missed', ({ sinceLastSuccessMs }) => missed.push(sinceLastSuccessMs));
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message), heartbeatIntervalMs: 40_000 });
    server.routes.set('session_heartbeat', () => ({ status: 503, body: {} }));
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(120_000);
    expect(missed).toEqual([]);
    await server.clock.advance(80_000);
    expect(missed).toEqual([160_000, 200_000]);
    expect(messages).toHaveLength(2);
    server.routes.set('session_heartbeat', () => ({ body: {} }));
    await server.clock.advance(80_000);
    expect(missed).toHaveLength(2);
    stop();
    await server.service.close();
  });

  it('continues to beat when the callback for messages throws, and the mistake is printed', async () => {
    const warnings: unknown[] = [];
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(warning));
    const mistake = new Error('in the callback');
    const onServerMessage = (): void => {
      throw mistake;
    };
    const server = miniServer({}, { onServerMessage, heartbeatIntervalMs: 130_000 });
    server.routes.set('session_heartbeat', () => ({ status: 503, body: {} }));
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(260_000);
    expect(server.transport.of('session_heartbeat')).toHaveLength(2);
    expect(warnings).toEqual([mistake, mistake]);
    warn.mockRestore();
    await server.service.close();
  });

  it('publishes start, heartbeats and end with the session id', async () => {
    const names: string[] = [];
    const stops = (['tinkex:session:start', 'tinkex:session:heartbeat', 'tinkex:session:end'] as const).map((name) =>
      subscribe(name, ({ sessionId }) => names.push(`${name} ${sessionId}`)),
    );
    const server = miniServer();
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(10_000);
    await server.service.close();
    for (const stop of stops) stop();
    expect(names).toEqual(['tinkex:session:start S', 'tinkex:session:heartbeat S', 'tinkex:session:end S']);
  });
});
