import { type ServerMessage, ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { createTestServer, memoryTransport, type TestServer, VirtualClock } from '@tinkex/testkit';
import { AbortedError, NotFoundError, ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';

type Reason = 'success' | 'errored' | 'interrupted';

interface Input {
  readonly used: readonly ('get_server_capabilities' | 'create_sampling_client')[];
  readonly end: { readonly close?: Reason | Reason[]; readonly detail?: string; readonly block?: string };
  readonly answer?: number;
}

interface Expected {
  readonly requests: readonly { readonly reason: { readonly type: Reason }; readonly detail: string | null }[];
  readonly error?: string;
}

function setUp(options: ServiceClientOptions = {}, server: TestServer = createTestServer({ engine: 'canned' })) {
  const clock = new VirtualClock();
  const base = { baseUrl: server.url, apiKey: server.apiKey, transport: memoryTransport(server), clock, random: () => 0, telemetry: false };
  return { server, clock, service: new ServiceClient({ ...base, ...options }) };
}

const finishes = (server: TestServer) => server.callsTo('finishSession').map(({ request }) => request);

async function use(service: ServiceClient, used: Input['used']): Promise<void> {
  for (const method of used) {
    if (method === 'create_sampling_client') await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    else await service.getServerCapabilities();
  }
}

async function end(service: ServiceClient, { close, detail, block }: Input['end'], used: Input['used']): Promise<void> {
  if (block !== undefined) {
    const thrown = { normal: undefined, 'ordinary exception': new Error('broken'), interrupt: new AbortedError({ message: 'Ctrl-C' }) }[
      block
    ];
    const running = service.run(async () => {
      await use(service, used);
      if (thrown !== undefined) throw thrown;
    });
    if (thrown === undefined) await running;
    else await expect(running).rejects.toBe(thrown);
    return;
  }
  await use(service, used);
  for (const status of [close ?? []].flat()) await service.close(status, { detail });
}

describe('session-finish vectors', () => {
  it.each(readVectors<Input, Expected>('session-finish'))('$name', async ({ input, expected }) => {
    const { server, service } = setUp();
    if (input.answer !== undefined) server.on('finishSession').reply(input.answer as 404, { detail: 'Not Found' });
    // A server without the endpoint is not an error here, unlike in the reference.
    await end(service, input.end, input.used);
    const sent = finishes(server).map(({ reason, detail }) => ({ reason: { type: reason }, detail: detail ?? null }));
    expect(sent).toEqual(expected.requests);
    server.verify();
    await expect(service.getServerCapabilities()).rejects.toThrow('The client was closed.');
  });
});

describe('closing a client with a session', () => {
  it('reports success at the end of an `await using` block', async () => {
    const { server, service } = setUp();
    {
      await using own = service;
      await own.sessionId();
    }
    expect(finishes(server)).toEqual([{ reason: 'success', detail: null }]);
  });

  it('survives lost replies and temporary failures; the server hears one reason', async () => {
    const { server, service, clock } = setUp();
    const sessionId = await service.sessionId();
    server.on('finishSession').fault('reset', { moment: 'after' }).times(2);
    server.on('finishSession').reply(503).times(3);
    await clock.runUntil(service.close('interrupted'));
    expect(new Set(finishes(server).map(({ reason }) => reason))).toEqual(new Set(['interrupted']));
    const { sessions } = await setUp({}, server).service.createRestClient().searchSessions({ sessionId });
    expect(sessions[0]?.status).toEqual({ type: 'client_finished', reason: 'interrupted' });
    expect(clock.pending).toBe(0);
  });

  it('refuses new calls from the first moment, and ends those in flight', async () => {
    const { server, service } = setUp();
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    const gate = server.gate('finishSession');
    const held = server.gate('asample');
    const input = { prompt: [1], samplingParams: { maxTokens: 1 } };
    const inFlight = sampling.sample(input);
    await held.waitFor(1);
    const closing = service.close();
    await gate.waitFor(1);
    await expect(sampling.sample(input)).rejects.toBeInstanceOf(AbortedError);
    await expect(service.sessionId()).rejects.toBeInstanceOf(AbortedError);
    gate.open();
    await expect(inFlight).rejects.toBeInstanceOf(AbortedError);
    await closing;
    held.open();
  });

  it('raises what finishing failed with, after everything is closed', async () => {
    const { server, service, clock } = setUp({ maxRetries: 0, maxRetryMs: 0 });
    await service.sessionId();
    server.on('finishSession').reply(500, { detail: 'broken' });
    await expect(service.close()).rejects.toBeInstanceOf(ServerError);
    expect(clock.pending).toBe(0);
  });

  it('gives up on a silent server at its time limit', async () => {
    const { server, service, clock } = setUp();
    await service.sessionId();
    server.on('finishSession').reply(503);
    const startedAtMs = clock.elapsedMs;
    await expect(clock.runUntil(service.close('errored', { timeoutMs: 5_000 }))).rejects.toMatchObject({ phase: 'total' });
    expect(clock.elapsedMs - startedAtMs).toBe(5_000);
    expect(clock.pending).toBe(0);
  });

  it('finishes also when a message at the start of the session makes the user close', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('createSession').reply(200, { sessionId: 'S', warningMessage: 'Go away.' });
    const closing: Promise<void>[] = [];
    const { service } = setUp({ onServerMessage: () => closing.push(service.close('interrupted')) }, server);
    await expect(service.sessionId()).rejects.toBeInstanceOf(AbortedError);
    await Promise.all(closing);
    expect(finishes(server)).toEqual([{ reason: 'interrupted', detail: null }]);
  });
});

describe('service.run', () => {
  it('gives what the work returns, and raises a failed finish', async () => {
    const good = setUp();
    expect(await good.service.run(async (service) => service.sessionId())).toMatch(/^sess/);
    const bad = setUp({ maxRetries: 0, maxRetryMs: 0 });
    bad.server.on('finishSession').reply(500);
    await expect(bad.service.run((service) => service.sessionId())).rejects.toBeInstanceOf(ServerError);
  });

  it('raises the failure of the work even when finishing fails too, which becomes a message', async () => {
    const messages: ServerMessage[] = [];
    const { server, service } = setUp({ maxRetries: 0, maxRetryMs: 0, onServerMessage: (message) => messages.push(message) });
    server.on('finishSession').reply(500, { detail: 'broken' });
    const failure = new NotFoundError({ message: 'no such data', status: 404 });
    const work = async (): Promise<never> => {
      await service.sessionId();
      throw failure;
    };
    await expect(service.run(work)).rejects.toBe(failure);
    expect(messages).toEqual([{ level: 'warning', text: expect.stringMatching(/^The session could not be finished\. /) }]);
  });
});

describe('deprecation notes', () => {
  it('are shown once each, with their level', async () => {
    const messages: ServerMessage[] = [];
    const { server, service } = setUp({ onServerMessage: (message) => messages.push(message) });
    server.on('getServerCapabilities').pass({ 'x-deprecation-note': 'Use v2.' });
    server.on('listSessions').reply(404, { detail: 'gone' }, { 'x-deprecation-note': 'Lists are gone.', 'x-deprecation-level': 'ERROR ' });
    await service.getServerCapabilities();
    await service.getServerCapabilities();
    await expect(service.createRestClient().listSessions().toArray()).rejects.toBeInstanceOf(NotFoundError);
    expect(messages).toEqual([
      { level: 'warning', text: 'Deprecation notice: Use v2.' },
      { level: 'error', text: 'Deprecation notice: Lists are gone.' },
    ]);
    await service.close();
  });
});

describe('checkAccess', () => {
  it('passes where the service takes the credential, and does not wait for an unpaid account', async () => {
    const { server, service, clock } = setUp();
    await service.checkAccess();
    server.on('getServerCapabilities').reply(402, { detail: 'set up billing' });
    await expect(service.checkAccess()).rejects.toMatchObject({ status: 402 });
    expect(clock.pending).toBe(0);
    await service.close();
  });
});
