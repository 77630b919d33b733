import { describe, expect, it } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import { never } from '../../test/support/scripted-transport.js';

const handle = { kind: 'tinkex.future', version: 1, requestType: 'OptimStep', requestIds: ['step-1'] } as const;

describe('futures.attach', () => {
  it('continues to wait for the future of a handle', async () => {
    const server = miniServer();
    server.routes.set('retrieve_future', () => ({ body: { metrics: { 'grad_norm:mean': 2 } } }));
    const future = server.service.futures.attach(handle);
    expect([future.status, future.requestId]).toEqual(['pending', 'step-1']);
    expect(await server.clock.runUntil(future)).toEqual({ metrics: { 'grad_norm:mean': 2 } });
    expect(server.transport.of('create_session')).toEqual([]);
    await server.service.close();
  });

  it.each(['abort', 'timeout', 'close'] as const)('%s ends it while the connection starts', async (how) => {
    const server = miniServer();
    server.routes.set('client/config', never);
    const controller = new AbortController();
    const future = server.service.futures.attach(handle, how === 'timeout' ? { timeoutMs: 5_000 } : { signal: controller.signal });
    const failure = future.catch((error: unknown) => error);
    await server.clock.advance(1);
    if (how === 'abort') controller.abort();
    else if (how === 'timeout') await server.clock.advance(5_000);
    else await server.service.close();
    expect(await failure).toMatchObject({ name: how === 'timeout' ? 'TimeoutError' : 'AbortError' });
    await server.service.close();
    expect(server.clock.pending).toBe(0);
  });
});
