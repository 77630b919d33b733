import { REFERENCE_SDK_VERSION } from '@tinkex/http';
import { ConfigurationError, ConnectionError, TimeoutError } from '@tinkex/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import { answersInOrder, later, never } from '../../test/support/scripted-transport.js';
import type { ServerMessage } from '../connection/connection-options.js';
import { ServiceClient } from './service-client.js';

afterEach(() => vi.unstubAllEnvs());

const paths = (server: ReturnType<typeof miniServer>) => server.transport.seen.map(({ path }) => path.replace('/api/v1/', ''));

describe('ServiceClient options', () => {
  it('does no I/O in its constructor', async () => {
    const server = miniServer();
    await server.clock.advance(100_000);
    expect(server.transport.seen).toEqual([]);
    await server.service.close();
  });

  it.each([
    [{ apikey: 'x' }, 'apikey'],
    [{ limits: { maxPolls: 1 } }, 'limits.maxPolls'],
    [{ wireFormat: 'xml' }, 'wireFormat'],
    [{ heartbeatIntervalMs: 0 }, 'heartbeatIntervalMs'],
    [{ maxRetryMs: -1 }, 'maxRetryMs'],
    [{ maxRetries: -1 }, 'maxRetries'],
    [{ maxRetries: Number.NaN }, 'maxRetries'],
    [{ timeoutMs: 0.5 }, 'timeoutMs'],
    [{ tokenizer: { dir: '/models' } }, 'tokenizer.dir'],
    [{ limits: { maxConcurrentPolls: -1 } }, 'limits.maxConcurrentPolls'],
    [{ limits: { maxConcurrentSamples: 0.5 } }, 'limits.maxConcurrentSamples'],
    [{ baseUrl: 'ftp://x' }, 'baseUrl'],
  ])('refuses %j immediately', (options, option) => {
    expect(() => new ServiceClient({ baseUrl: 'http://x', ...options } as never)).toThrow(ConfigurationError);
    try {
      new ServiceClient({ baseUrl: 'http://x', ...options } as never);
    } catch (error) {
      expect((error as ConfigurationError).option).toBe(option);
    }
  });

  it('checks the key only for the hosted service, and never shows it', () => {
    vi.stubEnv('TINKER_API_KEY', '');
    vi.stubEnv('TINKER_CREDENTIAL_CMD', '');
    vi.stubEnv('TINKER_BASE_URL', '');
    expect(() => new ServiceClient()).toThrow(/TINKER_API_KEY/);
    expect(() => new ServiceClient({ apiKey: 'sk-secret' })).toThrow(/tml-/);
    expect(() => new ServiceClient({ apiKey: 'sk-secret' })).not.toThrow(/secret/);
    expect(new ServiceClient({ apiKey: 'tml-x' }).baseUrl).toContain('thinkingmachines.dev');
    expect(new ServiceClient({ apiKey: 'sk-anything', baseUrl: 'http://127.0.0.1:1' }).baseUrl).toBe('http://127.0.0.1:1');
  });

  it('reads the environment, and options win', async () => {
    vi.stubEnv('TINKER_BASE_URL', 'http://from-env.test/base/');
    vi.stubEnv('TINKER_TAGS', 'a,b,a');
    vi.stubEnv('TINKER_PROJECT_ID', 'proj-env');
    vi.stubEnv('CLOUDFLARE_ACCESS_CLIENT_ID', 'cf-id');
    const server = miniServer({}, { userMetadata: { run: 1 }, projectId: 'proj-option' });
    expect(new ServiceClient({ apiKey: 'k' }).baseUrl).toBe('http://from-env.test/base');
    await server.clock.runUntil(server.service.sessionId());
    expect(server.transport.of('create_session')[0]).toMatchObject({
      body: {
        tags: ['a', 'b'],
        user_metadata: { run: 1 },
        project_id: 'proj-option',
        sdk_version: REFERENCE_SDK_VERSION,
        type: 'create_session',
      },
      headers: { 'cf-access-client-id': 'cf-id', 'x-api-key': 'any' },
    });
    await server.service.close();
  });
});

describe('start-up', () => {
  it('is lazy, in order, once for all callers', async () => {
    const server = miniServer();
    const { service, clock } = server;
    await clock.runUntil(Promise.all([service.sessionId(), service.sessionId(), service.createLoraTrainingClient({ baseModel: 'b' })]));
    expect(paths(server)).toEqual(['client/config', 'client/dynamic_config', 'create_session', 'create_model', 'retrieve_future']);
    await service.close();
  });

  it('needs no session for capabilities', async () => {
    const server = miniServer();
    server.routes.set('get_server_capabilities', () => ({
      status: 200,
      body: { supported_models: [{ model_name: 'm', max_context_length: 9 }] },
    }));
    expect((await server.clock.runUntil(server.service.getServerCapabilities())).supportedModels).toMatchObject([
      { modelName: 'm', maxContextLength: 9 },
    ]);
    expect(paths(server)).not.toContain('create_session');
    await server.service.close();
  });

  it.each([404, 405])('takes the defaults of a server without the configuration endpoints (%i)', async (status) => {
    const server = miniServer();
    server.routes.set('client/config', () => ({ status, body: { detail: 'no' } }));
    server.routes.set('client/dynamic_config', () => ({ status, body: { detail: 'no' } }));
    const training = await server.training();
    await server.clock.runUntil(training.optimStep());
    await server.clock.advance(3_600_000);
    expect(server.transport.of('client/dynamic_config')).toHaveLength(1);
    await server.service.close();
  });

  it('refreshes the dynamic configuration at the interval the server names, and keeps the last after a failure', async () => {
    const server = miniServer();
    server.routes.set(
      'client/dynamic_config',
      answersInOrder([{ body: { refresh_interval_sec: 1 } }, { status: 500, body: {} }, { body: { refresh_interval_sec: 60 } }], true),
    );
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(100_000);
    const times = server.transport.of('client/dynamic_config').map(({ atMs }) => atMs - (server.transport.seen[0]?.atMs ?? 0));
    expect(times).toEqual([0, 10_000, 20_000, 80_000]);
    await server.service.close();
  });

  it('a failed start is tried again by the next call; one caller giving up does not end it for the others', async () => {
    const server = miniServer();
    server.routes.set('create_session', answersInOrder([{ status: 403, body: { detail: 'no' } }, { body: { session_id: 'S2' } }]));
    await expect(server.clock.runUntil(server.service.sessionId())).rejects.toMatchObject({ status: 403 });
    const controller = new AbortController();
    const impatient = server.service.sessionId({ signal: controller.signal });
    const patient = server.service.sessionId();
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ name: 'AbortError' });
    expect(await server.clock.runUntil(patient)).toBe('S2');
    await server.service.close();
  });

  it('a call that is aborted before it begins sends nothing and leaves no rejection behind', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    const server = miniServer();
    const signal = AbortSignal.abort();
    await expect(server.service.getServerCapabilities({ signal })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(server.service.sessionId({ signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.transport.seen).toEqual([]);
    await server.service.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });

  it('a caller who gives up waiting for the start learns why it did not start', async () => {
    const server = miniServer();
    server.routes.set('client/config', () => ({ connection_error: true }));
    const error = await server.clock.runUntil(
      server.service.getServerCapabilities({ timeoutMs: 5_000 }).catch((reason: unknown) => reason),
    );
    expect(TimeoutError.isInstance(error)).toBe(true);
    expect((error as TimeoutError).message).toMatch(/the connection to start \(the last attempt failed: .+\)/);
    expect(ConnectionError.isInstance((error as TimeoutError).cause)).toBe(true);
    await server.service.close();
  });

  it.each([{}, { modelPath: 'weights' }, { baseModel: 'base', retry: { maxAttempts: 0 } }])(
    'a sampler that cannot be made is refused before anything is sent: %j',
    async (options) => {
      const server = miniServer();
      await expect(server.service.createSamplingClient(options)).rejects.toBeInstanceOf(ConfigurationError);
      expect(server.transport.seen).toEqual([]);
    },
  );

  it.each([{}, { trainingRunId: 'R', path: 'tinker://R/weights/1' }])(
    'a run that is not clear is not looked for: resume %j',
    async (options) => {
      const server = miniServer();
      await expect(server.service.resume(options)).rejects.toBeInstanceOf(ConfigurationError);
      expect(server.transport.seen).toEqual([]);
    },
  );

  it('the start and the call itself share one time limit', async () => {
    const server = miniServer();
    server.routes.set('client/config', () => later(server.clock, 900, { body: {} }));
    server.routes.set('training_runs/R', () => later(server.clock, 900, { body: {} }));
    const begunAtMs = server.clock.elapsedMs;
    const call = server.service.createRestClient().getTrainingRun('R', { timeoutMs: 1_000 });
    await expect(server.clock.runUntil(call)).rejects.toMatchObject({ name: 'TimeoutError', timeoutMs: 1_000 });
    expect(server.transport.of('training_runs/R')).toHaveLength(1);
    expect(server.clock.elapsedMs - begunAtMs).toBe(1_000);
    await server.service.close();
  });

  it('fails fast with maxRetries 0 and maxRetryMs 0', async () => {
    const server = miniServer({}, { maxRetries: 0, maxRetryMs: 0 });
    server.routes.set('client/config', () => ({ status: 503, body: {} }));
    await expect(server.clock.runUntil(server.service.getServerCapabilities())).rejects.toMatchObject({ status: 503 });
    expect(server.transport.seen).toHaveLength(1);
    await server.service.close();
  });

  it('exchanges the key for a token when the server asks for that, and uses it everywhere else', async () => {
    const payload = Buffer.from(JSON.stringify({ exp: 4_000_000_000, sub: 'u' })).toString('base64url');
    const jwt = `eyJh.${payload}.x`;
    const server = miniServer({ pjwt_auth_enabled: true });
    server.routes.set('auth/token', () => ({ body: { jwt } }));
    await server.clock.runUntil(server.service.sessionId());
    expect(server.transport.seen.map(({ path, headers }) => [path.replace('/api/v1/', ''), headers['x-api-key']])).toEqual([
      ['client/config', 'any'],
      ['auth/token', 'any'],
      ['client/dynamic_config', jwt],
      ['create_session', jwt],
    ]);
    await server.service.close();
  });

  it('a start that fails leaves nothing behind, not even a token that is kept fresh', async () => {
    const payload = Buffer.from(JSON.stringify({ exp: 4_000_000_000, sub: 'u' })).toString('base64url');
    const server = miniServer({ pjwt_auth_enabled: true });
    server.routes.set('auth/token', () => ({ body: { jwt: `eyJh.${payload}.x` } }));
    server.routes.set('client/dynamic_config', () => ({ status: 403, body: {} }));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(server.clock.runUntil(server.service.getServerCapabilities())).rejects.toMatchObject({ status: 403 });
    }
    expect(server.clock.pending).toBe(0);
    server.routes.set('client/dynamic_config', () => ({ body: {} }));
    expect(await server.clock.runUntil(server.service.sessionId())).toBe('S');
    await server.service.close();
  });

  it("passes the server's messages on", async () => {
    const messages: ServerMessage[] = [];
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message) });
    server.routes.set('create_session', () => ({
      body: { session_id: 'S', info_message: 'hello', warning_message: 'soon', error_message: '' },
    }));
    await server.clock.runUntil(server.service.sessionId());
    expect(messages).toEqual([
      { level: 'info', text: 'hello' },
      { level: 'warning', text: 'soon' },
    ]);
    await server.service.close();
  });

  it('prints what the user has to know when nothing listens', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const server = miniServer();
    const body = { session_id: 'S', info_message: 'hello', warning_message: 'Your plan expires soon', error_message: 'Read-only project' };
    server.routes.set('create_session', () => ({ body }));
    const training = await server.training();
    server.routes.set('optim_step', answersInOrder([{ status: 402, body: {} }, { body: { request_id: 'r' } }]));
    await server.clock.runUntil(training.optimStep());
    expect(warn.mock.calls.map(([text]) => text)).toEqual([
      'Your plan expires soon',
      'Read-only project',
      expect.stringContaining('The account is unpaid'),
    ]);
    warn.mockRestore();
    await server.service.close();
  });

  it('pauses on 402 and says so', async () => {
    const messages: ServerMessage[] = [];
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message) });
    const training = await server.training();
    server.routes.set(
      'optim_step',
      answersInOrder([{ status: 402, body: {} }, { status: 402, body: {} }, { body: { request_id: 'optim' } }]),
    );
    const start = server.clock.elapsedMs;
    await server.clock.runUntil(training.optimStep());
    expect(server.clock.elapsedMs - start).toBe(10_000);
    expect(messages.map(({ level }) => level)).toEqual(['warning']);
    await server.service.close();
  });
});

describe('an unpaid account', () => {
  it('pauses the start, too, and says so', async () => {
    const messages: ServerMessage[] = [];
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message) });
    server.routes.set('client/config', answersInOrder([{ status: 402, body: {} }, { status: 402, body: {} }, { body: {} }]));
    const start = server.clock.elapsedMs;
    await server.clock.runUntil(server.service.sessionId());
    expect(server.clock.elapsedMs - start).toBe(10_000);
    expect(messages.map(({ level }) => level)).toEqual(['warning']);
    await server.service.close();
  });
});

describe('close', () => {
  it('leaves nothing behind when the answer that starts the session makes the user close', async () => {
    let closing: Promise<void> | undefined;
    const onServerMessage = (): void => {
      closing = server.service.close();
    };
    const server = miniServer({}, { telemetry: true, onServerMessage });
    server.routes.set('create_session', () => ({ body: { session_id: 'S', error_message: 'this version is too old' } }));
    const session = server.clock.runUntil(server.service.sessionId());
    await expect(session).rejects.toMatchObject({ name: 'AbortError', message: 'The client was closed.' });
    await closing;
    expect(server.clock.pending).toBe(0);
  });

  it('ends waits with AbortedError, stops everything, and is idempotent', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('retrieve_future', never);
    const hanging = training.optimStep();
    const queued = [training.optimStep(), training.saveState('x')];
    await server.clock.advance(10);
    const outcomes = Promise.allSettled([hanging, ...queued]);
    await Promise.all([server.service.close(), server.service.close()]);
    expect((await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason?.name)).toEqual([
      'AbortError',
      'AbortError',
      'AbortError',
    ]);
    expect(server.clock.pending).toBe(0);
    await expect(server.service.getServerCapabilities()).rejects.toMatchObject({ name: 'AbortError' });
    await expect(training.optimStep()).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.transport.isClosed).toBe(false);
  });
});

describe('reports to the service', () => {
  it('are sent only where they are wanted, and tell the start of the session and failures', async () => {
    const silent = miniServer();
    await silent.clock.runUntil(silent.service.sessionId());
    await silent.clock.advance(60_000);
    expect(silent.transport.of('telemetry')).toEqual([]);
    await silent.service.close();

    const server = miniServer({}, { telemetry: true });
    server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
    const training = await server.training();
    server.routes.set('retrieve_future', () => ({ body: { error: 'broken', category: 'server' } }));
    await expect(server.clock.runUntil(training.optimStep())).rejects.toThrow('broken');
    await server.clock.runUntil(server.service.close());
    const events = server.transport
      .of('telemetry')
      .flatMap(({ body }) => (body as { events: { event: string }[] }).events.map(({ event }) => event));
    expect(events).toEqual(['SESSION_START', 'GENERIC_EVENT', 'UNHANDLED_EXCEPTION', 'SESSION_END']);
    expect(server.transport.of('telemetry')[0]?.body).toMatchObject({ session_id: 'S', sdk_version: REFERENCE_SDK_VERSION });
  });

  it('tell failed polls and repeated submissions, without the key', async () => {
    const server = miniServer({}, { telemetry: true, apiKey: 'tml-very-secret', maxRetries: 0 });
    server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
    const training = await server.training();
    server.routes.set('optim_step', answersInOrder([{ status: 503, body: {} }, { body: { request_id: 'r' } }]));
    server.routes.set(
      'retrieve_future',
      answersInOrder([
        { status: 408, body: { type: 'try_again' } },
        { connection_error: true },
        { status: 429, body: {} },
        { body: { error: 'out of memory', category: 'server' } },
      ]),
    );
    await expect(server.clock.runUntil(training.optimStep())).rejects.toThrow('out of memory');
    await server.clock.runUntil(server.service.close());
    const bodies = server.transport.of('telemetry').map(({ body }) => body as { events: { event_name?: string }[] });
    expect(bodies.flatMap(({ events }) => events.flatMap(({ event_name }) => event_name ?? []))).toEqual([
      'InternalClientHolder.execute_with_retries.exception',
      'APIFuture.result_async.connection_error',
      'APIFuture.result_async.api_status_error',
      'APIFuture.result_async.application_error',
    ]);
    expect(JSON.stringify(bodies)).not.toContain('tml-very-secret');
  });

  it('tell the last failure of each retry layer, and results that cannot be read', async () => {
    const server = miniServer({}, { telemetry: true, maxRetries: 0 });
    server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
    server.routes.set('create_sampling_session', () => ({ body: { sampling_session_id: 'S:sample:0' } }));
    const training = await server.training();
    server.routes.set('retrieve_future', () => ({ body: { metrics: 'none' } }));
    await expect(server.clock.runUntil(training.optimStep())).rejects.toThrow('metrics');
    server.routes.set('optim_step', () => ({ status: 422, body: {} }));
    await expect(server.clock.runUntil(training.optimStep())).rejects.toMatchObject({ status: 422 });
    server.routes.set('asample', answersInOrder([{ body: { request_id: 'lost' } }, { status: 403, body: {} }]));
    server.routes.set('retrieve_future', () => ({ status: 410, body: {} }));
    const sampling = await server.clock.runUntil(server.service.createSamplingClient({ baseModel: 'base', retry: true }));
    await expect(server.clock.runUntil(sampling.sample({ prompt: [1] }))).rejects.toMatchObject({ status: 403 });
    await server.clock.runUntil(server.service.close());
    const outer = 'InternalClientHolder.execute_with_retries.exception';
    const handler = 'RetryHandler.execute.exception';
    expect(reportsOf(server).flatMap(({ name, data }) => (name === undefined ? [] : [[name, data?.['attempt_count']]]))).toEqual([
      ['APIFuture.result_async.validation_error', undefined],
      [outer, 0],
      ['user_error', undefined],
      ['APIFuture.result_async.api_status_error', undefined],
      [handler, 1],
      [outer, 0],
      [handler, 2],
      ['user_error', undefined],
    ]);
  });

  it('tell failed lookups apart from the session, once each', async () => {
    const server = miniServer({}, { telemetry: true, maxRetries: 0 });
    server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
    await expect(server.clock.runUntil(server.service.createRestClient().getTrainingRun('gone'))).rejects.toThrow('no route');
    await expect(server.clock.runUntil(server.service.createSamplingClient({ baseModel: 'base' }))).rejects.toThrow('no route');
    server.routes.set('create_model', () => ({ status: 400, body: { detail: 'no such model' } }));
    await expect(server.training()).rejects.toThrow('no such model');
    await server.clock.runUntil(server.service.close());
    const reports = reportsOf(server);
    expect(reports.filter(({ session }) => session !== 'S').map(({ event, name }) => name ?? event)).toContain('user_error');
    expect(reports.some(({ session, event }) => session !== 'S' && event.startsWith('SESSION'))).toBe(false);
    expect(reports.filter(({ session }) => session === 'S').map(({ event, name }) => name ?? event)).toEqual([
      'SESSION_START',
      ...['user_error', 'SESSION_END'],
      ...['user_error', 'SESSION_END'],
    ]);
  });

  it('say nothing about what the caller ended, and about samples that are held back', async () => {
    const server = miniServer({}, { telemetry: true });
    server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
    server.routes.set('create_sampling_session', () => ({ body: { sampling_session_id: 'S:sample:0' } }));
    server.routes.set('asample', () => ({ status: 429, body: {} }));
    const training = await server.training();
    const sampling = await server.clock.runUntil(server.service.createSamplingClient({ baseModel: 'base' }));
    await expect(server.clock.runUntil(sampling.sample({ prompt: [1] }))).rejects.toMatchObject({ status: 429 });
    server.routes.set('retrieve_future', never);
    const controller = new AbortController();
    const aborted = training.optimStep({}, { signal: controller.signal });
    await aborted.submitted();
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await expect(server.clock.runUntil(training.optimStep({}, { timeoutMs: 100 }))).rejects.toBeInstanceOf(TimeoutError);
    await server.clock.runUntil(server.service.close());
    expect(reportsOf(server).map(({ event }) => event)).toEqual(['SESSION_START']);
  });

  it('a service that does not answer them holds close() up for a second at most', async () => {
    const server = miniServer({}, { telemetry: true });
    server.routes.set('telemetry', never);
    await server.clock.runUntil(server.service.sessionId());
    const start = server.clock.elapsedMs;
    await server.clock.runUntil(server.service.close());
    expect(server.clock.elapsedMs - start).toBeLessThanOrEqual(1_000);
    expect(server.clock.pending).toBe(0);
  });
});

interface Report {
  readonly session: string;
  readonly event: string;
  readonly name?: string | undefined;
  readonly data?: Record<string, unknown> | undefined;
}

function reportsOf(server: ReturnType<typeof miniServer>): Report[] {
  return server.transport.of('telemetry').flatMap(({ body }) => {
    const { session_id: session, events } = body as {
      session_id: string;
      events: { event: string; event_name?: string; event_data?: Record<string, unknown> }[];
    };
    return events.map(({ event, event_name: name, event_data: data }) => ({ session, event, name, data }));
  });
}
