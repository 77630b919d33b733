import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { forwardBackwardBody, optimBody, type RawClient } from './raw-client.js';

const DIMUON = { type: 'dimuon', version: 1 };
const learning = rawTest.extend({ options: { dialect: 'json', engine: 'learn' } });

async function create(client: RawClient, sessionId: string, modelSeqId: number, optimizer?: object): Promise<string> {
  const body = { session_id: sessionId, model_seq_id: modelSeqId, base_model: 'tinkex/tiny', lora_config: { rank: 4, seed: 1 } };
  const { json } = await client.post('create_model', { ...body, optimizer_config: optimizer });
  return (await client.result(json.request_id, 'CreateModel')).json.model_id;
}

function dimuonBody(modelId: string, seqId: number): Record<string, unknown> {
  const params = { type: 'dimuon', learning_rate: 0.01, grad_clip_norm: 0, beta1: 0.9 };
  return { model_id: modelId, seq_id: seqId, type: 'optim_step', optimizer_params: params };
}

async function losses(client: RawClient, modelId: string, step: typeof dimuonBody, from = 1): Promise<number[]> {
  const found: number[] = [];
  for (let seqId = from; seqId < from + 6; seqId += 2) {
    const { json } = await client.post('forward_backward', forwardBackwardBody(modelId, seqId));
    found.push((await client.result(json.request_id, 'ForwardBackward')).json.metrics['loss:sum']);
    const stepped = await client.post('optim_step', step(modelId, seqId + 1));
    expect((await client.result(stepped.json.request_id, 'OptimStep')).status).toBe(200);
  }
  return found;
}

describe('the optimizer of a model', () => {
  learning('decides how it is trained: Dimuon takes another way than AdamW', async ({ server, client }) => {
    const sessionId = await client.createSession();
    const adam = await create(client, sessionId, 0);
    const dimuon = await create(client, sessionId, 1, DIMUON);
    const [first, ...rest] = await losses(client, dimuon, dimuonBody);
    const [adamFirst, ...adamRest] = await losses(client, adam, optimBody);
    expect(first).toBe(adamFirst);
    expect(rest).not.toEqual(adamRest);
    expect(rest[1]).toBeLessThan(first!);
    server.verify();
  });

  learning('is in the answers about it when it is not AdamW', async ({ client }) => {
    const sessionId = await client.createSession();
    const adam = await create(client, sessionId, 0, { type: 'adamw' });
    const dimuon = await create(client, sessionId, 1, DIMUON);
    expect((await client.post('get_info', { model_id: adam })).json).not.toHaveProperty('optimizer_config');
    expect((await client.post('get_info', { model_id: dimuon })).json.optimizer_config).toEqual(DIMUON);
    const { json } = await client.post('save_weights', { model_id: dimuon, seq_id: 1, path: 'd' });
    const { path } = (await client.result(json.request_id, 'SaveWeights')).json;
    expect((await client.post('weights_info', { tinker_path: path })).json.optimizer_config).toEqual(DIMUON);
  });

  for (const options of [{}, { strict: false }]) {
    rawTest.extend({ options })(`refuses the settings of another, with ${JSON.stringify(options)}`, async ({ server, client }) => {
      const sessionId = await client.createSession();
      const adam = await create(client, sessionId, 0);
      const dimuon = await create(client, sessionId, 1, DIMUON);
      const toAdam = await client.post('optim_step', dimuonBody(adam, 1));
      expect([toAdam.status, toAdam.json.detail]).toEqual([
        400,
        expect.stringContaining(`settings of dimuon, but ${adam} is trained with adamw`),
      ]);
      const toDimuon = await client.post('optim_step', optimBody(dimuon, 1));
      expect([toDimuon.status, toDimuon.json.detail]).toEqual([400, expect.stringContaining('settings of adamw')]);
      const nothing = await client.post('optim_step', { model_id: dimuon, seq_id: 2 });
      expect(nothing.status).toBe(400);
      const unknown = await client.post('optim_step', { model_id: adam, seq_id: 2, optimizer_params: { type: 'brand_new' } });
      expect([unknown.status, unknown.json.detail]).toEqual([400, expect.stringContaining('settings of brand_new')]);
      expect(brokenRules(server)).toEqual(Array(4).fill('optimizer-mismatch'));
      // A refused step uses up its sequence ID: the next operation runs.
      const { json } = await client.post('optim_step', optimBody(adam, 3));
      expect((await client.result(json.request_id, 'OptimStep')).status).toBe(200);
    });
  }

  rawTest('must be one that the engine has', async ({ client }) => {
    const sessionId = await client.createSession();
    const body = { session_id: sessionId, model_seq_id: 0, base_model: 'tinkex/tiny', optimizer_config: { type: 'brand_new' } };
    const { status, json } = await client.post('create_model', body);
    expect([status, json.detail]).toEqual([400, 'The optimizer brand_new is not supported; choose adamw or dimuon']);
  });

  learning('is restored with its state, chosen without it, and never mixed', async ({ server, client }) => {
    const sessionId = await client.createSession();
    const original = await create(client, sessionId, 0, DIMUON);
    await losses(client, original, dimuonBody);
    const { json } = await client.post('save_weights', { model_id: original, seq_id: 7, path: 'd' });
    const { path } = (await client.result(json.request_id, 'SaveWeights')).json;
    const expected = await losses(client, original, dimuonBody, 8);

    const load = async (modelSeqId: number, choice: object) => {
      const body = { session_id: sessionId, model_seq_id: modelSeqId, path, type: 'load_weights', ...choice };
      const submitted = await client.post('load_weights', body);
      return (await client.result(submitted.json.request_id, 'LoadWeights')).json.model_id as string;
    };
    expect(await losses(client, await load(1, { optimizer: true }), dimuonBody)).toEqual(expected);
    const fresh = await losses(client, await load(2, { optimizer: false, optimizer_config: DIMUON }), dimuonBody);
    expect(fresh[0]).toBe(expected[0]);
    expect(fresh[2]).not.toBe(expected[2]);
    await losses(client, await load(3, { optimizer: false }), optimBody);

    const adam = await create(client, sessionId, 4);
    const mixed = await client.post('load_weights', { model_id: adam, seq_id: 1, path, optimizer: true });
    const failure = await client.result(mixed.json.request_id, 'LoadWeights');
    expect(failure.text).toContain('holds the state of dimuon, but the model is trained with adamw');
    server.verify();
  });
});

describe('a loss function that the engine does not have', () => {
  const json = rawTest.extend({ options: { dialect: 'json' } });

  for (const loss of ['stable_reinforce', 'brand_new']) {
    json(`${loss} is refused, never replaced`, async ({ client }) => {
      const modelId = await client.createModel(await client.createSession());
      const body = forwardBackwardBody(modelId, 1) as { forward_backward_input: object };
      const answer = await client.post('forward_backward', {
        ...body,
        forward_backward_input: { ...body.forward_backward_input, loss_fn: loss },
      });
      expect([answer.status, answer.json.detail]).toEqual([
        400,
        expect.stringContaining(`The loss function "${loss}" is not supported; choose one of cross_entropy`),
      ]);
    });
  }
});

describe('provenance', () => {
  const recording = rawTest.extend({ options: { dialect: 'hatchery' } });

  async function submit(client: RawClient, spans: (sequenceId: string) => object) {
    const sessionId = await client.createSession();
    const samplerId = await client.createSampler(sessionId);
    const { json } = await client.sample({
      num_samples: 1,
      prompt: { chunks: [{ tokens: [5], type: 'encoded_text' }] },
      sampling_params: { max_tokens: 4 },
      sampling_session_id: samplerId,
      seq_id: 0,
    });
    const modelId = await client.createModel(sessionId);
    const body = forwardBackwardBody(modelId, 1) as { forward_backward_input: { data: object[] } };
    const data = body.forward_backward_input.data.map((datum) => ({ ...datum, ...spans(json.sample_sequence_ids[0]) }));
    return client.post('forward_backward', { ...body, forward_backward_input: { ...body.forward_backward_input, data } });
  }
  const spans = (sequence_id: string, length = 3) => [{ kind: 'sampled', sequence_id, offset: 0, length }];

  recording('of sequences that the session sampled is accepted', async ({ server, client }) => {
    const { status } = await submit(client, (id) => ({ model_input_spans: spans(id), loss_fn_input_spans: spans(id) }));
    expect(status).toBe(200);
    expect(brokenRules(server)).toEqual([]);
  });

  recording('of other sequences is refused', async ({ server, client }) => {
    const { status, json } = await submit(client, (id) => ({ model_input_spans: spans(id), loss_fn_input_spans: spans('elsewhere:0') }));
    expect([status, json.detail]).toEqual([400, expect.stringContaining('names the sequence elsewhere:0')]);
    expect(brokenRules(server)).toEqual(['sequence-unknown']);
  });

  recording('that does not cover the tokens is refused', async ({ client }) => {
    const { status, json } = await submit(client, (id) => ({ model_input_spans: spans(id, 2), loss_fn_input_spans: spans(id) }));
    expect([status, json.detail]).toEqual([422, expect.stringContaining('data[0].provenance.modelInput covers 2 of 3 tokens')]);
  });

  recording('in one list alone is refused', async ({ client }) => {
    expect((await submit(client, (id) => ({ model_input_spans: spans(id) }))).status).toBe(422);
  });
});
