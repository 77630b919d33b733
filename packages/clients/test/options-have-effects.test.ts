/**
 * An option that is silently discarded looks like one that works. Each is shown here by what it changes, and a new one without an entry
 * does not compile.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientLimits, ServerMessage, ServiceClientOptions } from '@tinkex/clients';
import { createResponse, subscribe, systemClock, type Transport } from '@tinkex/http';
import { ByteTokenizer, datum, ModelInput, TimeoutError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { watchBodies } from './support/body-memory.js';
import { cannedRig } from './support/canned-rig.js';
import { turns } from './support/drive.js';
import { type MiniServer, miniServer, seqIdOf } from './support/mini-server.js';
import { answersInOrder, later, never, type ScriptedAnswer, type SeenRequest } from './support/scripted-transport.js';

const rig = cannedRig();
const input = { prompt: [1, 2, 3], samplingParams: { maxTokens: 1 } };
const one = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } });

/** The request that opens the session of a client with these options. */
async function sessionRequest(options: ServiceClientOptions) {
  const server = miniServer({}, options);
  await server.clock.runUntil(server.service.sessionId());
  await server.service.close();
  return server.transport.of('create_session')[0];
}

/** How many requests a call makes that always gets a 503. */
async function requestsOfAFailure(options: ServiceClientOptions): Promise<number> {
  const server = miniServer({}, options);
  server.routes.set('get_server_capabilities', () => ({ status: 503, body: {} }));
  await expect(server.clock.runUntil(server.service.getServerCapabilities())).rejects.toMatchObject({ status: 503 });
  await server.service.close();
  return server.transport.of('get_server_capabilities').length;
}

const options: { readonly [Option in keyof Required<ServiceClientOptions>]: () => Promise<void> } = {
  apiKey: async () => {
    expect((await sessionRequest({ apiKey: 'tml-mine' }))?.headers).toMatchObject({ 'x-api-key': 'tml-mine' });
  },
  credentialCommand: async () => {
    const server = miniServer({}, { apiKey: '', credentialCommand: 'echo printed', clock: systemClock });
    await server.service.sessionId();
    expect(server.transport.of('create_session')[0]?.headers).toMatchObject({ 'x-api-key': 'printed' });
    await server.service.close();
  },
  baseUrl: async () => {
    const server = miniServer({}, { baseUrl: 'http://server.test/elsewhere', maxRetries: 0, maxRetryMs: 0 });
    await expect(server.clock.runUntil(server.service.sessionId())).rejects.toMatchObject({ status: 404 });
    expect(server.transport.seen[0]?.path).toMatch(/^\/elsewhere\/api\/v1\//);
    await server.service.close();
  },
  projectId: async () => {
    expect((await sessionRequest({ projectId: 'p-1' }))?.body).toMatchObject({ project_id: 'p-1' });
  },
  displayName: async () => {
    expect((await sessionRequest({ displayName: 'nightly' }))?.body).toMatchObject({ display_name: 'nightly' });
    expect((await sessionRequest({ displayName: '' }))?.body).not.toHaveProperty('display_name');
  },
  tags: async () => {
    expect((await sessionRequest({ tags: ['a', 'b'] }))?.body).toMatchObject({ tags: ['a', 'b'] });
  },
  userMetadata: async () => {
    expect((await sessionRequest({ userMetadata: { run: 7 } }))?.body).toMatchObject({ user_metadata: { run: 7 } });
  },
  attemptTimeoutMs: async () => {
    const server = miniServer({}, { attemptTimeoutMs: 5_000, maxRetries: 0, maxRetryMs: 0 });
    server.routes.set('get_server_capabilities', never);
    const startedAtMs = server.clock.elapsedMs;
    await expect(server.clock.runUntil(server.service.getServerCapabilities())).rejects.toSatisfy(TimeoutError.isInstance);
    expect(server.clock.elapsedMs - startedAtMs).toBe(5_000);
    await server.service.close();
  },
  maxRetries: async () => {
    expect(await requestsOfAFailure({ maxRetries: 2, maxRetryMs: 0 })).toBe(3);
  },
  maxRetryMs: async () => {
    expect(await requestsOfAFailure({ maxRetries: 0, maxRetryMs: 1_000 })).toBe(2);
  },
  headers: async () => {
    expect((await sessionRequest({ headers: { 'x-team': 'blue' } }))?.headers).toMatchObject({ 'x-team': 'blue' });
  },
  query: async () => {
    await rig.connect({ query: { team: 'blue' } }).getServerCapabilities();
    expect(rig.server.callsTo('getServerCapabilities')[0]?.path).toContain('?team=blue');
  },
  transport: async () => {
    const answer: Transport = { send: async () => createResponse({ body: { supported_models: [] } }), close: async () => undefined };
    expect(await rig.connect({ transport: answer }).getServerCapabilities()).toMatchObject({ supportedModels: [] });
    expect(rig.server.calls).toEqual([]);
  },
  dispatcher: async () => {
    let dispatched = 0;
    const dispatch = (): never => {
      dispatched += 1;
      throw new TypeError('this dispatcher has no network');
    };
    const dispatcher = { dispatch } as unknown as NonNullable<ServiceClientOptions['dispatcher']>;
    await expect(rig.connect({ dispatcher, maxRetries: 0, maxRetryMs: 0 }).getServerCapabilities()).rejects.toThrow('no network');
    expect(dispatched).toBeGreaterThan(0);
    expect(rig.server.calls).toEqual([]);
  },
  downloads: async () => {
    const forbidden = { allowPrivateAddresses: false } as const;
    const rest = rig.connect({ downloads: forbidden, maxRetries: 0, maxRetryMs: 0 }).createRestClient();
    const { url } = rig.server;
    rig.server.on('checkpointArchive').reply(302, undefined, { location: `${url}/files/a` });
    const directory = join(tmpdir(), 'never-written');
    await expect(rest.downloadCheckpoint('tinker://r/sampler_weights/1', { directory })).rejects.toThrow('allowPrivateAddresses');
    const dispatcher = {} as NonNullable<ServiceClientOptions['dispatcher']>;
    expect(() => rig.connect({ dispatcher, downloads: forbidden })).toThrow('built-in transport');
    expect(() => rig.connect({ downloads: { allowPrivate: false } as never })).toThrow('downloads.allowPrivate');
  },
  middleware: async () => {
    const request = await sessionRequest({
      middleware: [(sent, next) => next({ ...sent, headers: { ...sent.headers, 'x-layer': '1' } })],
    });
    expect(request?.headers).toMatchObject({ 'x-layer': '1' });
  },
  wireFormat: async () => {
    const types: unknown[] = [];
    for (const wireFormat of ['protobuf', 'json'] as const) {
      const server = miniServer({}, { wireFormat });
      const training = await server.training();
      await server.clock.runUntil(training.forwardBackward([one], 'cross_entropy'));
      types.push(server.transport.of('forward_backward')[0]?.headers['content-type']);
      await server.service.close();
    }
    expect(types).toEqual(['application/x-protobuf', 'application/json']);
  },
  clock: async () => {
    const server = miniServer();
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(3_600_000);
    expect(server.transport.of('session_heartbeat').length).toBeGreaterThan(300);
    await server.service.close();
  },
  random: async () => {
    const waitOf = async (random: number): Promise<number> => {
      const server = miniServer({}, { random: () => random });
      server.routes.set('get_server_capabilities', answersInOrder([{ status: 503, body: {} }, { body: { supported_models: [] } }]));
      await server.clock.runUntil(server.service.getServerCapabilities());
      await server.service.close();
      const [first, second] = server.transport.of('get_server_capabilities');
      return (second?.atMs ?? 0) - (first?.atMs ?? 0);
    };
    expect([await waitOf(0), await waitOf(0.8)]).toEqual([500, 400]);
  },
  sdkVersion: async () => {
    expect((await sessionRequest({ sdkVersion: '9.8.7' }))?.body).toMatchObject({ sdk_version: '9.8.7' });
  },
  telemetry: async () => {
    const reports: number[] = [];
    for (const telemetry of [false, true]) {
      const server = miniServer({}, { telemetry });
      server.routes.set('telemetry', () => ({ body: { status: 'accepted' } }));
      await server.clock.runUntil(server.service.sessionId());
      await server.clock.runUntil(server.service.close());
      reports.push(server.transport.of('telemetry').length);
    }
    expect(reports).toEqual([0, 1]);
  },
  publishContent: async () => {
    const prompts: unknown[] = [];
    const stop = subscribe('tinkex:sampling:call', ({ content }) => prompts.push(content?.prompt));
    for (const publishContent of [false, true]) {
      const sampling = await rig.connect({ publishContent }).createSamplingClient({ baseModel: 'tinkex/tiny' });
      await sampling.sample(input);
    }
    stop();
    expect(prompts).toEqual([undefined, input.prompt]);
  },
  heartbeatIntervalMs: async () => {
    const server = miniServer({}, { heartbeatIntervalMs: 1_500 });
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(4_500);
    const [first, second] = server.transport.of('session_heartbeat');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(1_500);
    await server.service.close();
  },
  limits: async () => {
    // Each limit has its own entry below; here: an unknown name is refused, not ignored.
    expect(() => rig.connect({ limits: { maxPolls: 1 } as ClientLimits })).toThrow('limits.maxPolls');
  },
  tokenizer: async () => {
    const tokenizer = new ByteTokenizer();
    const sampling = await rig.connect({ tokenizer: { load: () => tokenizer } }).createSamplingClient({ baseModel: 'tinkex/tiny' });
    rig.server.on('getSampler').reply(200, { samplerId: sampling.samplingSessionId, baseModel: 'someone/model' });
    expect(await sampling.getTokenizer()).toBe(tokenizer);
  },
  onServerMessage: async () => {
    const messages: ServerMessage[] = [];
    const server = miniServer({}, { onServerMessage: (message) => messages.push(message) });
    server.routes.set('create_session', () => ({ body: { session_id: 'S', info_message: 'hello' } }));
    await server.clock.runUntil(server.service.sessionId());
    expect(messages).toEqual([{ level: 'info', text: 'hello' }]);
    await server.service.close();
  },
};

/** Five sampling calls against a server that holds them: how many of them are on the server. */
async function samplesOnTheServer(limits: ClientLimits, at: 'submission' | 'execution'): Promise<number> {
  const gate = at === 'execution' ? rig.server.gate('asample', { at }) : rig.server.gate('asample');
  const sampling = await rig.connect({ limits }).createSamplingClient({ baseModel: 'tinkex/tiny' });
  const calls = Array.from({ length: 5 }, () => sampling.sample(input).result());
  await rig.server.waitForCalls('asample', 1);
  await turns(50);
  const count = rig.server.count('asample');
  gate.open();
  await Promise.all(calls);
  expect(rig.server.count('asample')).toBe(5);
  return count;
}

/** How many of five steps the server has while it runs none. */
async function stepsOnTheServer(limits: ClientLimits): Promise<number> {
  const training = await rig.connect({ limits }).createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  const before = rig.server.count('optimStep');
  const gate = rig.server.gate('optimStep', { at: 'execution' });
  const steps = Array.from({ length: 5 }, () => training.optimStep().result());
  await rig.server.waitForCalls('optimStep', before + 1);
  await turns(50);
  const count = rig.server.count('optimStep') - before;
  gate.open();
  await Promise.all(steps);
  expect(rig.server.count('optimStep') - before).toBe(5);
  return count;
}

/** How many of fifty samples have left for the server when the event loop comes round. */
async function samplesInOneTurn(limits: ClientLimits): Promise<number> {
  const server = miniServer({}, { limits });
  server.routes.set('create_sampling_session', () => ({ body: { sampling_session_id: 's:sample:0' } }));
  server.routes.set('asample', never);
  const sampling = await server.clock.runUntil(server.service.createSamplingClient({ baseModel: 'm' }));
  const calls = Promise.allSettled(Array.from({ length: 50 }, () => sampling.sample(input)));
  await Promise.resolve();
  const count = server.transport.of('asample').length;
  await server.service.close();
  await calls;
  return count;
}

/** The most requests to one path that are in progress at the same time during the work. Announcements of a size do not count. */
async function mostAtOnce(
  server: MiniServer,
  path: string,
  answerTo: (request: SeenRequest) => ScriptedAnswer,
  work: () => PromiseLike<unknown>,
) {
  let [inFlight, most] = [0, 0];
  server.routes.set(path, async (request) => {
    const answer = answerTo(request);
    if ((answer.body as { status?: string }).status === 'complete_metadata') return answer;
    inFlight += 1;
    most = Math.max(most, inFlight);
    await later(server.clock, 10, answer);
    inFlight -= 1;
    return answer;
  });
  await server.clock.runUntil(work());
  await server.service.close();
  return most;
}

async function chunksAtOnce(limits: ClientLimits): Promise<number> {
  const server = miniServer({ fwdbwd_max_chunk_len: 1 }, { limits });
  const training = await server.training();
  const accept = (request: SeenRequest) => ({ body: { request_id: `forward-${seqIdOf(request)}` } });
  return mostAtOnce(server, 'forward_backward', accept, () => training.forwardBackward([one, one, one, one], 'cross_entropy'));
}

/** Three results, each announced by its size first: how many of them are fetched at the same time. */
async function resultsAtOnce(limits: ClientLimits): Promise<number> {
  const server = miniServer({}, { limits });
  const announced = { body: { status: 'complete_metadata', response_payload_size: 800 } };
  const handle = { kind: 'tinkex.future', version: 1, requestType: 'OptimStep' } as const;
  return mostAtOnce(
    server,
    'retrieve_future',
    ({ body }) => ((body as { allow_metadata_only: boolean }).allow_metadata_only ? announced : { body: {} }),
    () => Promise.all(['a', 'b', 'c'].map((id) => server.service.futures.attach({ ...handle, requestIds: [id] }))),
  );
}

/** In how many pieces of memory the bodies of three passes were, one after the other. */
async function bodyBuffers(options: ServiceClientOptions): Promise<number> {
  const stop = watchBodies();
  const training = await rig.connect(options).createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  for (let pass = 0; pass < 3; pass += 1) await training.forwardBackward([one], 'cross_entropy');
  return new Set(stop()).size;
}

const limits: { readonly [Limit in keyof Required<ClientLimits>]: () => Promise<void> } = {
  maxConcurrentPolls: async () => {
    expect([await resultsAtOnce({}), await resultsAtOnce({ maxConcurrentPolls: 1 })]).toEqual([3, 1]);
  },
  maxDispatchBytes: async () => {
    expect(await chunksAtOnce({})).toBeGreaterThan(1);
    expect(await chunksAtOnce({ maxDispatchBytes: 1 })).toBe(1);
  },
  maxReusedBodyBytes: async () => {
    expect(await bodyBuffers({})).toBe(1);
    expect(await bodyBuffers({ limits: { maxReusedBodyBytes: 0 } })).toBe(3);
    // A transport or middleware that sees bodies may keep them.
    expect(await bodyBuffers({ middleware: [(request, next) => next(request)] })).toBe(3);
  },
  maxResponseBytesInFlight: async () => {
    expect([await resultsAtOnce({}), await resultsAtOnce({ maxResponseBytesInFlight: 700 })]).toEqual([3, 1]);
  },
  maxUnfinishedOperations: async () => {
    expect([await stepsOnTheServer({}), await stepsOnTheServer({ maxUnfinishedOperations: 2 })]).toEqual([5, 2]);
  },
  maxConcurrentSampleSubmissions: async () => {
    expect(await samplesOnTheServer({ maxConcurrentSampleSubmissions: 2 }, 'submission')).toBe(2);
  },
  maxThrottledSampleSubmissions: async () => {
    rig.server.on('asample').reply(429, { retryAfterMs: 100 }).once();
    const sampling = await rig.connect({ limits: { maxThrottledSampleSubmissions: 2 } }).createSamplingClient({ baseModel: 'tinkex/tiny' });
    await expect(sampling.sample(input)).rejects.toMatchObject({ status: 429 });
    const gate = rig.server.gate('asample');
    const calls = Array.from({ length: 5 }, () => sampling.sample(input).result());
    await rig.clock.advance(100);
    await gate.waitFor(2);
    await turns(50);
    expect(rig.server.inFlight('asample')).toBe(2);
    gate.open();
    await Promise.all(calls);
  },
  maxPromptBytesInFlight: async () => {
    expect(await samplesOnTheServer({ maxPromptBytesInFlight: 1 }, 'submission')).toBe(1);
  },
  maxConcurrentSamples: async () => {
    expect(await samplesOnTheServer({ maxConcurrentSamples: 3 }, 'execution')).toBe(3);
  },
  maxSampleStartsPerTurn: async () => {
    expect([await samplesInOneTurn({}), await samplesInOneTurn({ maxSampleStartsPerTurn: 5 })]).toEqual([32, 5]);
  },
};

describe('each option of ServiceClient changes what happens', () => {
  it.each(Object.entries(options))('%s', (_, showEffect) => showEffect());
});

describe('each limit holds something back', () => {
  it('which is not held back without it', async () => {
    expect(await samplesOnTheServer({}, 'submission')).toBe(5);
  });

  it.each(Object.entries(limits))('%s', (_, showEffect) => showEffect());
});
