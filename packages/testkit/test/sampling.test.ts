import { protobuf } from '@tinkex/types/wire';
import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { sampleBody } from './raw-client.js';

describe('a sampling session', () => {
  rawTest('needs a base model or a path', async ({ client }) => {
    const sessionId = await client.createSession();
    const body = { session_id: sessionId, sampling_session_seq_id: 0, type: 'create_sampling_session' };
    expect([400, 422]).toContain((await client.post('create_sampling_session', body)).status);
    expect((await client.post('create_sampling_session', { ...body, base_model: 'no/such' })).status).toBe(400);
    expect((await client.post('create_sampling_session', { ...body, model_path: 'tinker://no:train:0/weights/x' })).status).toBe(404);
  });

  rawTest('is one for each number, and another body for a number gets 409', async ({ server, client }) => {
    const sessionId = await client.createSession();
    const samplerId = await client.createSampler(sessionId, 0);
    expect(await client.createSampler(sessionId, 0)).toBe(samplerId);
    expect(await client.createSampler(sessionId, 1)).toBe(`${sessionId}:sample:1`);
    server.verify();
    const body = { session_id: sessionId, sampling_session_seq_id: 0, model_path: 'tinker://a/weights/b', type: 'create_sampling_session' };
    expect((await client.post('create_sampling_session', body)).status).toBe(409);
  });

  rawTest('says what it is', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    expect((await client.get(`samplers/${samplerId}`)).json).toEqual({
      sampler_id: samplerId,
      base_model: 'tinkex/tiny',
      model_path: null,
    });
    expect((await client.get('samplers/nobody')).status).toBe(404);
  });
});

describe('asample', () => {
  rawTest('gives the samples that were asked for', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const body = sampleBody(samplerId, 0, { num_samples: 3, prompt_logprobs: true, topk_prompt_logprobs: 2 });
    const { json } = await client.sample(body);
    const response = protobuf.sampleResponse.decode((await client.result(json.request_id, 'Sample')).bytes);
    expect(response.sequences).toHaveLength(3);
    expect(response.sequences[0]).toMatchObject({ stopReason: 'length', tokens: Int32Array.of(1, 2, 3, 4) });
    expect(response.promptLogprobs?.[0]).toBeNaN();
    expect(response.topkPromptLogprobs?.toList()).toEqual([
      null,
      [
        [6, -0.5],
        [7, -1.5],
      ],
      [
        [7, -0.5],
        [8, -1.5],
      ],
    ]);
    server.verify();
  });

  rawTest('repeated under its number is the same call', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const first = await client.sample(sampleBody(samplerId, 5));
    const again = await client.sample(sampleBody(samplerId, 5));
    expect(again.json).toEqual(first.json);
    server.verify();
  });

  rawTest('with another body under its number gets 409', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    await client.sample(sampleBody(samplerId, 5));
    expect((await client.sample(sampleBody(samplerId, 5, { num_samples: 2 }))).status).toBe(409);
    expect(brokenRules(server)).toEqual(['seq-conflict']);
  });

  rawTest('can be asked for again under its number once its promise is gone', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.result(json.request_id, 'Sample');
    server.expireFuture(json.request_id);
    expect((await client.poll(json.request_id, 'Sample', 1)).status).toBe(410);
    const again = await client.sample(sampleBody(samplerId, 0));
    expect((await client.result(again.json.request_id, 'Sample')).status).toBe(200);
    server.verify();
  });

  rawTest('tells neighbouring numbers beyond 2^53 apart', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const text = (seqId: bigint): string => JSON.stringify(sampleBody(samplerId, 0)).replace('"seq_id":0', `"seq_id":${seqId}`);
    const base = 739_000_000_000_000_001n * 1n;
    const ids = new Set<string>();
    for (const seqId of [base, base + 1n, base + 2n]) ids.add((await client.sample(text(seqId))).json.request_id);
    expect(ids.size).toBe(3);
    expect(server.callsTo('asample').map(({ request }) => request.seqId)).toEqual([base, base + 1n, base + 2n]);
    server.verify();
  });

  rawTest('without a number gets 422', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { seq_id: _left, ...body } = sampleBody(samplerId, 0);
    expect((await client.sample(body)).status).toBe(422);
  });

  rawTest('of an unknown session gets 404', async ({ server, client }) => {
    expect((await client.sample(sampleBody('nobody', 0))).status).toBe(404);
    expect(brokenRules(server)).toEqual(['sampler-unknown']);
  });

  rawTest('without a session and without weights gets 400', async ({ server, client }) => {
    const { sampling_session_id: _session, seq_id: _seq, ...body } = sampleBody('', 0);
    expect((await client.sample(body)).status).toBe(400);
    expect((await client.sample({ ...body, model_path: 'weights/x' })).status).toBe(400);
    expect(brokenRules(server)).toEqual(['sampler-source', 'sampler-source']);
  });

  rawTest('may name its weights itself', async ({ client }) => {
    const { sampling_session_id: _session, seq_id: _seq, ...body } = sampleBody('', 0, { base_model: 'tinkex/tiny' });
    const { status, json } = await client.sample(body);
    expect(status).toBe(200);
    expect((await client.result(json.request_id, 'Sample')).status).toBe(200);
  });
});
