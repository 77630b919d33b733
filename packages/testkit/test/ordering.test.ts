import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cannedEngine, createTestServer, DIALECTS, type Dialect, type Engine, startServer, type TestServer } from '../src/index.js';
import { brokenRules, rawTest } from './fixture.js';
import { forwardBackwardBody, optimBody, RawClient } from './raw-client.js';

/** An engine that notes the learning rates of its steps, in the order in which it runs them. */
function notingEngine(steps: number[]): Engine {
  const canned = cannedEngine();
  return {
    ...canned,
    createModel: async (spec) => {
      const model = await canned.createModel(spec);
      return {
        forward: (input, options) => model.forward(input, options),
        optimStep: (params) => {
          steps.push(params.learningRate ?? 0);
          return model.optimStep(params);
        },
        save: (kind) => model.save(kind),
        load: (files, options) => model.load(files, options),
      };
    },
  };
}

/** Sends one JSON request in memory: fast enough for hundreds of random cases. */
async function post(
  server: TestServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Record<string, string> }> {
  const response = await server.handle(
    new Request(`${server.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': server.apiKey, 'x-idempotency-key': crypto.randomUUID(), ...headers },
      body: JSON.stringify(body),
    }),
  );
  return { status: response.status, json: (await response.json()) as Record<string, string> };
}

async function memoryModel(server: TestServer): Promise<string> {
  const session = await post(server, 'create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0', type: 'create_session' });
  const lora = { rank: 4, train_unembed: true, train_mlp: true, train_attn: true };
  const body = { session_id: session.json.session_id, model_seq_id: 0, base_model: 'tinkex/tiny', lora_config: lora, type: 'create_model' };
  await post(server, 'create_model', body);
  return `${session.json.session_id}:train:0`;
}

function pollHeaders(type: string): Record<string, string> {
  return { 'x-tinker-request-iteration': '0', 'x-tinker-request-type': type, 'x-tinker-create-promise-roundtrip-time': '0' };
}

describe('training operations', () => {
  it('run in the order of their numbers whatever order they arrive in, each once however often it is sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }).chain((count) =>
          fc.tuple(
            fc.shuffledSubarray(
              Array.from({ length: count }, (_, index) => index + 1),
              { minLength: count },
            ),
            fc.array(fc.integer({ min: 1, max: count }), { maxLength: 10 }),
          ),
        ),
        async ([arrival, repeats]) => {
          const steps: number[] = [];
          const server = createTestServer({ engine: notingEngine(steps), dialect: 'both' });
          const modelId = await memoryModel(server);
          const requestIds = new Map<number, string>();
          for (const seqId of [...arrival, ...repeats]) {
            const { status, json } = await post(server, 'optim_step', optimBody(modelId, seqId, seqId / 1000));
            expect(status).toBe(200);
            expect(json.request_id).toBe(requestIds.get(seqId) ?? json.request_id);
            requestIds.set(seqId, String(json.request_id));
          }
          for (const requestId of requestIds.values()) {
            const { status } = await post(
              server,
              'retrieve_future',
              { request_id: requestId, allow_metadata_only: true },
              pollHeaders('OptimStep'),
            );
            expect(status).toBe(200);
          }
          expect(steps).toEqual([...arrival].sort((left, right) => left - right).map((seqId) => seqId / 1000));
          expect(new Set(requestIds.values()).size).toBe(arrival.length);
          server.verify();
          await server.close();
        },
      ),
      { numRuns: 200 },
    );
  });

  rawTest('are accepted and polled before the first has come', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const second = await client.post('optim_step', optimBody(modelId, 2));
    expect(second.status).toBe(200);
    const polled = client.result(second.json.request_id, 'OptimStep');
    await server.waitForCalls('retrieveFuture', 2);
    expect(server.pendingFutures).toBe(1);
    await client.post('optim_step', optimBody(modelId, 1));
    expect((await polled).json).toEqual({ metrics: { 'step:max': 2 } });
  });

  rawTest('with a known number and another body get 409', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    await client.post('optim_step', optimBody(modelId, 1, 0.1));
    const { status, json } = await client.post('optim_step', optimBody(modelId, 1, 0.2));
    expect(status).toBe(409);
    expect(json.detail).toMatch(/different body/);
    expect(brokenRules(server)).toEqual(['seq-conflict']);
  });

  rawTest('without a number get 422', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { seq_id: _left, ...body } = optimBody(modelId, 1);
    expect((await client.post('optim_step', body)).status).toBe(422);
    expect(brokenRules(server)).toEqual(['seq-missing']);
  });

  rawTest('with number 0 get 422', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    expect((await client.post('optim_step', optimBody(modelId, 0))).status).toBe(422);
  });

  rawTest('of an unknown model get 404', async ({ server, client }) => {
    expect((await client.post('optim_step', optimBody('nobody:train:0', 1))).status).toBe(404);
    expect(brokenRules(server)).toEqual(['model-unknown']);
  });
});

describe('a number that never comes', () => {
  rawTest.override({ options: { seqGapMs: 60_000 } });

  rawTest('is given up after a while, and is refused when it comes after all', async ({ clock, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('optim_step', optimBody(modelId, 3));
    await clock.advance(59_000);
    const poll = client.poll(json.request_id, 'OptimStep');
    await clock.waitForTimers(2);
    await clock.advance(1_000);
    expect((await poll).status).toBe(200);
    expect((await client.post('optim_step', optimBody(modelId, 1))).status).toBe(409);
  });
});

describe('a scripted refusal', () => {
  rawTest('uses its number up, a retryable one does not', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    server.on('optimStep').reply(400, { detail: 'no' }).once();
    server.on('optimStep').reply(503).once();
    expect((await client.post('optim_step', optimBody(modelId, 1))).status).toBe(400);
    expect((await client.post('optim_step', optimBody(modelId, 2))).status).toBe(503);
    const third = await client.post('optim_step', optimBody(modelId, 3));
    await client.post('optim_step', optimBody(modelId, 2));
    expect((await client.result(third.json.request_id, 'OptimStep')).json.metrics).toEqual({ 'step:max': 2 });
    server.verify();
  });
});

describe('creations', () => {
  rawTest('of the same model number are one model', async ({ client }) => {
    const sessionId = await client.createSession();
    expect(await client.createModel(sessionId, 0)).toBe(`${sessionId}:train:0`);
    expect(await client.createModel(sessionId, 0)).toBe(`${sessionId}:train:0`);
    const { json } = await client.get(`sessions/${sessionId}`);
    expect(json.training_run_ids).toEqual([`${sessionId}:train:0`]);
  });

  rawTest('of the same model number with another body get 409', async ({ server, client }) => {
    const sessionId = await client.createSession();
    await client.createModel(sessionId, 0, 4);
    const lora = { rank: 8, train_unembed: true, train_mlp: true, train_attn: true };
    const body = { session_id: sessionId, model_seq_id: 0, base_model: 'tinkex/tiny', lora_config: lora, type: 'create_model' };
    expect((await client.post('create_model', body)).status).toBe(409);
    expect(brokenRules(server)).toEqual(['seq-conflict']);
  });

  rawTest('of a session are repeated under their idempotency key only', async ({ client }) => {
    const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0', type: 'create_session' };
    const headers = { 'x-idempotency-key': 'same' };
    const first = await client.post('create_session', body, { headers });
    const again = await client.post('create_session', body, { headers });
    const other = await client.post('create_session', body);
    expect(again.json).toEqual(first.json);
    expect(other.json.session_id).not.toBe(first.json.session_id);
  });

  rawTest('with a key that belongs to another body get 422', async ({ server, client }) => {
    const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0', type: 'create_session' };
    const headers = { 'x-idempotency-key': 'same' };
    await client.post('create_session', body, { headers });
    expect((await client.post('create_session', { ...body, tags: ['x'] }, { headers })).status).toBe(422);
    expect(brokenRules(server)).toEqual(['idempotency-key-reused']);
  });
});

describe('a server that wants strict order', () => {
  it('refuses a number out of order, and a repeat', async () => {
    const dialect: Dialect = { ...DIALECTS['open-rl'], repeat: 'conflict' };
    await using server = await startServer({ engine: 'canned', dialect });
    const client = new RawClient(server);
    const modelId = await client.createModel(await client.createSession());
    expect((await client.post('forward_backward', forwardBackwardBody(modelId, 2))).status).toBe(400);
    expect((await client.post('forward_backward', forwardBackwardBody(modelId, 1))).status).toBe(201);
    expect((await client.post('forward_backward', forwardBackwardBody(modelId, 1))).status).toBe(409);
    expect(brokenRules(server)).toEqual(['seq-order']);
    await client.close();
  });
});

describe('a submission refused for its content', () => {
  rawTest('uses its number up, in protobuf too: the operation behind it does not wait for the gap to be given up', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    // A number, a loss, and no data.
    const name = Buffer.from(modelId);
    const empty = Buffer.concat([Buffer.from([0x0a, name.length]), name, Buffer.from([0x10, 1, 0x22, 13]), Buffer.from('cross_entropy')]);
    const refused = await client.post('forward_backward', empty, { headers: { 'content-type': 'application/x-protobuf' } });
    expect([refused.status, refused.json.detail]).toEqual([422, expect.stringContaining('data must be a list of at least 1')]);
    const next = await client.post('optim_step', optimBody(modelId, 2));
    expect((await client.poll(next.json.request_id, 'OptimStep')).json.metrics).toEqual({ 'step:max': 1 });
  });
});
