import type { TensorData } from '@tinkex/types';
import { protobuf } from '@tinkex/types/wire';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createTestServer, type RequestOf, type ResultOf, startServer, VerificationError } from '../src/index.js';
import { rawTest } from './fixture.js';
import { optimBody, sampleBody } from './raw-client.js';

describe('a scripted reply', () => {
  rawTest('takes exactly as many calls as it says', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    server.on('asample').reply(429, { retryAfterMs: 200 }).times(2);
    const statuses = [];
    for (let call = 0; call < 3; call++) statuses.push((await client.sample(sampleBody(samplerId, 0))).status);
    expect(statuses).toEqual([429, 429, 200]);
    server.verify();
  });

  rawTest('sends retry headers and a detail', async ({ server, client }) => {
    server.on('getServerCapabilities').reply(503, { detail: 'later', retryAfter: 1.5, shouldRetry: false }).once();
    const { status, headers, json } = await client.get('get_server_capabilities');
    expect([status, headers['retry-after'], headers['x-should-retry'], json]).toEqual([503, '1.5', 'false', { detail: 'later' }]);
  });

  rawTest('may let the call through and add headers to the real reply', async ({ server, client }) => {
    server.on('getServerCapabilities').pass({ 'x-deprecation-note': 'Use v2.' }).once();
    const { status, headers } = await client.get('get_server_capabilities');
    expect([status, headers['x-deprecation-note']]).toEqual([200, 'Use v2.']);
    expect((await client.get('get_server_capabilities')).headers['x-deprecation-note']).toBeUndefined();
  });

  rawTest('is an answer of the route, in its own names, for a success', async ({ server, client }) => {
    server.on('getServerCapabilities').reply(200, { supportedModels: [{ modelName: 'a/b', maxContextLength: 5 }] });
    expect((await client.get('get_server_capabilities')).json).toEqual({
      supported_models: [{ model_name: 'a/b', max_context_length: 5 }],
    });
  });

  rawTest('is computed from the request', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    server.on('asample').reply(200, ({ request, occurrence }) => ({ requestId: `mine-${String(request.seqId)}-${occurrence}` }));
    expect((await client.sample(sampleBody(samplerId, 7))).json).toEqual({ request_id: 'mine-7-0' });
    expect((await client.sample(sampleBody(samplerId, 8))).json).toEqual({ request_id: 'mine-8-1' });
  });

  rawTest('can be for one promise only', async ({ server, client }) => {
    server.on('retrieveFuture').forRequestId('mine').reply(200, { error: 'boom', category: 'server' });
    expect((await client.poll('mine', 'Sample')).json).toEqual({ error: 'boom', category: 'server' });
    expect((await client.poll('other', 'Sample')).status).toBe(404);
  });

  rawTest('can be a pending answer, a blank 400, or bytes', async ({ server, client }) => {
    server.on('retrieveFuture').reply(408, { queueState: 'paused_capacity', queueStateReason: 'no GPUs' }).once();
    server.on('retrieveFuture').reply(400, '').once();
    server
      .on('retrieveFuture')
      .reply(200, Uint8Array.of(1, 2, 3))
      .once();
    const pending = await client.poll('r', 'Sample');
    expect(pending.json).toEqual({ type: 'try_again', request_id: 'r', queue_state: 'paused_capacity', queue_state_reason: 'no GPUs' });
    const blank = await client.poll('r', 'Sample');
    expect([blank.status, blank.headers['content-length']]).toEqual([400, '0']);
    const bytes = await client.poll('r', 'Sample');
    expect([bytes.headers['content-type'], ...bytes.bytes]).toEqual(['application/x-protobuf', 1, 2, 3]);
  });

  rawTest('waits on the clock when told', async ({ clock, server, client }) => {
    server.on('healthz').reply(500).delay(1_000).once();
    const call = client.get('healthz');
    await clock.waitForTimers(1);
    expect(server.inFlight('healthz')).toBe(1);
    await clock.advance(1_000);
    expect((await call).status).toBe(500);
  });

  rawTest('steps aside for requests it does not want, and in the order of its making', async ({ server, client }) => {
    server
      .on('getSampler')
      .when(({ params }) => params['sampler_id'] === 'a')
      .reply(418);
    server.on('getSampler').reply(503).once();
    expect((await client.get('samplers/a')).status).toBe(418);
    expect((await client.get('samplers/b')).status).toBe(503);
    expect((await client.get('samplers/b')).status).toBe(404);
  });
});

describe('a scripted result', () => {
  rawTest('keeps order, ids and promises, and replaces the engine', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    server
      .on('optimStep')
      .when(({ request }) => request.seqId === 1)
      .result({ metrics: { learning_rate: 0.02 } });
    server
      .on('optimStep')
      .when(({ request }) => request.seqId === 2)
      .fail({ error: 'no', category: 'user' });
    const first = await client.post('optim_step', optimBody(modelId, 1));
    const second = await client.post('optim_step', optimBody(modelId, 2));
    expect((await client.result(first.json.request_id, 'OptimStep')).json).toEqual({ metrics: { learning_rate: 0.02 } });
    expect((await client.result(second.json.request_id, 'OptimStep')).json).toEqual({ error: 'no', category: 'user' });
    server.verify();
  });

  rawTest('of a sample travels as protobuf', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    server.on('asample').result(({ request }) => ({
      sequences: [{ tokens: Int32Array.of(Number(request.seqId)), stopReason: 'stop' }],
      promptCacheHitTokens: 3,
    }));
    const { json } = await client.sample(sampleBody(samplerId, 9));
    const response = protobuf.sampleResponse.decode((await client.result(json.request_id, 'Sample')).bytes);
    expect(response.sequences[0]?.tokens).toEqual(Int32Array.of(9));
    expect(response.promptCacheHitTokens).toBe(3);
  });

  rawTest('of a creation is heard, and the model works', async ({ server, client }) => {
    const sessionId = await client.createSession();
    server.on('createModel').result({ modelId: 'renamed' }).once();
    expect(await client.createModel(sessionId)).toBe('renamed');
    const { json } = await client.post('optim_step', optimBody(`${sessionId}:train:0`, 1));
    expect((await client.result(json.request_id, 'OptimStep')).status).toBe(200);
  });

  it('is typed by its route', () => {
    const server = createTestServer({ engine: 'canned' });
    expectTypeOf<RequestOf<'asample'>>().toHaveProperty('samplingSessionId');
    expectTypeOf<ResultOf<'forwardBackward'>['lossFnOutputs'][number]>().toEqualTypeOf<Readonly<Record<string, TensorData>>>();
    server.on('asample').when(({ request }) => {
      expectTypeOf(request.seqId).toEqualTypeOf<number | bigint | undefined>();
      return true;
    });
    // @ts-expect-error a sample's result has sequences
    server.on('asample').result({ metrics: {} });
    // @ts-expect-error the answer of get_info has a model id
    server.on('getInfo').reply(200, { status: 'ok' });
    // @ts-expect-error no such route
    expect(() => server.on('heartbeat')).toThrow('sessionHeartbeat');
  });
});

describe('gates', () => {
  rawTest('hold calls until they are let go, in order', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const gate = server.gate('asample');
    const calls = Array.from({ length: 50 }, (_, seqId) => client.sample(sampleBody(samplerId, seqId)));
    await gate.waitFor(50);
    expect([gate.waiting, gate.passed, server.inFlight('asample')]).toEqual([50, 0, 50]);
    gate.release(2);
    await Promise.race(calls);
    expect(gate.waiting).toBe(48);
    gate.open();
    const answers = await Promise.all(calls);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect([gate.passed, server.maxConcurrency('asample')]).toEqual([50, 50]);
    gate.close();
    const late = client.sample(sampleBody(samplerId, 50));
    await gate.waitFor(1);
    gate.open();
    await late;
  });

  rawTest('before the reply let the work be done', async ({ server, client }) => {
    const gate = server.gate('createSession', { at: 'reply' });
    const call = client.createSession();
    await gate.waitFor(1);
    const stop = client.sibling();
    expect((await stop.get('sessions')).json.sessions).toHaveLength(1);
    gate.open();
    await call;
    await stop.close();
  });

  rawTest('let go of a client that went away', async ({ server, client }) => {
    const gate = server.gate('healthz');
    const stop = new AbortController();
    const call = client.get('healthz', { signal: stop.signal });
    await gate.waitFor(1);
    stop.abort();
    await expect(call).rejects.toThrow();
    while (gate.waiting > 0) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(server.inFlight()).toBe(0);
  });
});

describe('verify', () => {
  rawTest('lists unmet expectations and unused scripts', async ({ server, client }) => {
    server.expect('asample').times(3);
    server.expect('healthz').never();
    server.expect('getSession').atLeast(1);
    server.expect('getSession').atMost(0);
    server.expect('getSampler').atLeast(2);
    server.on('optimStep').reply(500).times(2);
    server.on('createModel').pass();
    await client.get('healthz');
    await client.get('sessions/x');
    expect(() => server.verify()).toThrow(VerificationError);
    try {
      server.verify();
    } catch (error) {
      expect((error as VerificationError).problems).toEqual([
        'asample was called 0 times, expected 3',
        'healthz was called 1 times, expected 0',
        'getSession was called 1 times, expected 0',
        'getSampler was called 0 times, expected at least 2',
        expect.stringContaining('the script reply on optimStep was used 0 of 2 times (created at '),
        expect.stringContaining('the script pass on createModel was used 0 of 1 times (created at '),
      ]);
    }
    server.reset();
    server.verify();
  });

  rawTest.for([
    [1, 'healthz was called 1 times, expected 2 to 3'],
    [2, undefined],
    [3, undefined],
    [4, 'healthz was called 4 times, expected 2 to 3'],
  ] as const)('takes a range of calls, whichever end is named first: %s', async ([calls, problem], { server, client }) => {
    server.expect('healthz').atLeast(2).atMost(3);
    server.expect('healthz').atMost(3).atLeast(2);
    for (let call = 0; call < calls; call++) await client.get('healthz');
    const problems = (): readonly string[] => {
      try {
        server.verify();
        return [];
      } catch (error) {
        return (error as VerificationError).problems;
      }
    };
    expect(problems()).toEqual(problem === undefined ? [] : [problem, problem]);
  });

  rawTest('passes when everything was as expected', async ({ server, client }) => {
    server.expect('healthz').once();
    server.on('healthz').pass().once();
    await client.get('healthz');
    server.verify();
  });

  it('reports an engine that breaks the server', async () => {
    const server = createTestServer({ engine: 'canned' });
    server.on('healthz').reply(200, () => {
      throw new Error('my script is broken');
    });
    const response = await server.handle(new Request(`${server.url}/api/v1/healthz`, { headers: { 'x-api-key': server.apiKey } }));
    expect(response.status).toBe(500);
    expect(() => server.verify()).toThrow(/my script is broken/);
    server.reset();
    server.verify();
  });

  it('reports a listener of calls that throws; the client does not notice', async () => {
    await using server = await startServer({
      engine: 'canned',
      onCall: () => {
        throw new Error('my listener is broken');
      },
    });
    expect((await fetch(`${server.url}/api/v1/healthz`)).status).toBe(200);
    expect(server.inFlight()).toBe(0);
    expect(() => server.verify()).toThrow(/my listener is broken/);
  });
});

describe('the recording', () => {
  rawTest('has calls in order, with time, size and hidden credentials', async ({ clock, server, client }) => {
    await client.get('healthz', { headers: { authorization: 'Bearer secret', 'x-custom': 'private', 'user-agent': 'me' } });
    await clock.advance(5);
    const sessionId = await client.createSession();
    const [first, second] = server.calls;
    expect([first?.index, first?.route, first?.method, first?.path, first?.status]).toEqual([0, 'healthz', 'GET', '/api/v1/healthz', 200]);
    expect(first?.headers).toMatchObject({
      'x-api-key': '[redacted]',
      authorization: '[redacted]',
      'x-custom': '[redacted]',
      'user-agent': 'me',
    });
    expect((second?.arrivedAtMs ?? 0) - (first?.arrivedAtMs ?? 0)).toBe(5);
    expect(second?.requestBytes).toBeGreaterThan(20);
    expect(second?.replyBytes).toBeGreaterThan(20);
    expect(server.callsTo('createSession')[0]?.request).toEqual({ tags: [], userMetadata: {}, sdkVersion: '0.25.0' });
    expect(sessionId).toMatch(/^sess-/);
    expect(JSON.stringify(server.calls)).not.toContain('tml-test-key');
  });

  rawTest('has sizes in bytes, not in characters', async ({ server, client }) => {
    const { bytes, text } = await client.get('samplers/%E2%82%AC');
    expect(text).toContain('€');
    expect(server.calls[0]?.replyBytes).toBe(bytes.length);
  });

  rawTest('counts by route, tenant and promise', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.result(json.request_id, 'Sample');
    await client.poll(json.request_id, 'Sample', 1);
    expect(server.count('retrieveFuture')).toBe(2);
    expect(server.count('retrieveFuture', { requestId: json.request_id, status: 200, tenant: 'test' })).toBe(2);
    expect(server.count('retrieveFuture', { requestId: 'other' })).toBe(0);
  });
});

describe('the limit of the recording', () => {
  rawTest.override({ options: { recorderLimit: 3 } });

  rawTest('keeps the newest calls and exact totals', async ({ server, client }) => {
    for (let call = 0; call < 8; call++) await client.get('healthz');
    expect(server.calls.map(({ index }) => index)).toEqual([5, 6, 7]);
    expect(server.count('healthz')).toBe(8);
  });
});

describe('a recording of nothing', () => {
  rawTest.override({ options: { recorderLimit: 0 } });

  rawTest('keeps no call, and exact totals', async ({ server, client }) => {
    for (let call = 0; call < 3; call++) await client.get('healthz');
    expect(server.calls).toEqual([]);
    expect(server.count('healthz')).toBe(3);
  });
});
