import { unpackTar } from 'modern-tar';
import { describe, expect } from 'vitest';
import { rawTest } from './fixture.js';
import { optimBody, type RawAnswer, type RawClient, sampleBody } from './raw-client.js';

async function save(
  client: RawClient,
  modelId: string,
  seqId: number,
  name: string,
  extra: Record<string, unknown> = {},
): Promise<RawAnswer> {
  const body = { model_id: modelId, path: name, seq_id: seqId, overwrite: false, type: 'save_weights', ...extra };
  const { json } = await client.post('save_weights', body);
  return client.result(json.request_id, 'SaveWeights');
}

async function saveForSampler(client: RawClient, modelId: string, seqId: number, extra: Record<string, unknown>): Promise<RawAnswer> {
  const { json } = await client.post('save_weights_for_sampler', {
    model_id: modelId,
    seq_id: seqId,
    type: 'save_weights_for_sampler',
    ...extra,
  });
  return client.result(json.request_id, 'SaveWeightsForSampler');
}

describe('saving', () => {
  rawTest('gives a path by its kind', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    expect((await save(client, modelId, 1, 'a')).json).toEqual({ path: `tinker://${modelId}/weights/a`, type: 'save_weights' });
    expect((await saveForSampler(client, modelId, 2, { path: 'b' })).json).toEqual({
      path: `tinker://${modelId}/sampler_weights/b`,
      sampling_session_id: null,
      type: 'save_weights_for_sampler',
    });
    server.verify();
  });

  rawTest('under a taken name fails by the caller, unless it may overwrite', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    expect((await save(client, modelId, 2, 'a')).json).toMatchObject({ category: 'user' });
    expect((await save(client, modelId, 3, 'a', { overwrite: true })).json.path).toBe(`tinker://${modelId}/weights/a`);
  });

  rawTest('refuses impossible names and times', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const body = { model_id: modelId, path: 'a/b', seq_id: 1, overwrite: false, type: 'save_weights' };
    expect((await client.post('save_weights', body)).status).toBe(400);
    expect((await client.post('save_weights', { ...body, path: 'a', seq_id: 2, ttl_seconds: 0 })).status).toBe(422);
    const { json } = await client.post('optim_step', optimBody(modelId, 3));
    expect((await client.result(json.request_id, 'OptimStep')).status).toBe(200);
  });

  rawTest('without a name makes a sampler, and its repeat with a new number the same one', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const first = await saveForSampler(client, modelId, 1, { sampling_session_seq_id: 7 });
    const samplerId = first.json.sampling_session_id;
    expect(first.json.path).toBeNull();
    const again = await saveForSampler(client, modelId, 1, { sampling_session_seq_id: 8 });
    expect(again.json.sampling_session_id).toBe(samplerId);
    const { json } = await client.sample(sampleBody(samplerId, 0));
    expect((await client.result(json.request_id, 'Sample')).status).toBe(200);
    expect((await client.get('checkpoints')).json.checkpoints).toEqual([]);
    server.verify();
  });

  rawTest('needs exactly one of name and number', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const body = { model_id: modelId, seq_id: 1, type: 'save_weights_for_sampler' };
    expect((await client.post('save_weights_for_sampler', body)).status).toBe(422);
    expect((await client.post('save_weights_for_sampler', { ...body, path: 'a', sampling_session_seq_id: 0 })).status).toBe(422);
  });
});

describe('loading', () => {
  rawTest('into a model restores the optimizer only when asked', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    await client.post('optim_step', optimBody(modelId, 1));
    const path = (await save(client, modelId, 2, 'a')).json.path;
    const load = async (seqId: number, optimizer: boolean): Promise<unknown> => {
      const { json } = await client.post('load_weights', { model_id: modelId, seq_id: seqId, path, optimizer, type: 'load_weights' });
      return (await client.result(json.request_id, 'LoadWeights')).json;
    };
    expect(await load(3, true)).toEqual({ path, model_id: modelId, type: 'load_weights' });
    const with_ = await client.post('optim_step', optimBody(modelId, 4));
    expect((await client.result(with_.json.request_id, 'OptimStep')).json.metrics).toEqual({ 'step:max': 2 });
    await load(5, false);
    const without = await client.post('optim_step', optimBody(modelId, 6));
    expect((await client.result(without.json.request_id, 'OptimStep')).json.metrics).toEqual({ 'step:max': 1 });
    server.verify();
  });

  rawTest('can create the model, whose id the client can build itself', async ({ client }) => {
    const sessionId = await client.createSession();
    const path = (await save(client, await client.createModel(sessionId), 1, 'a')).json.path;
    const body = { session_id: sessionId, model_seq_id: 1, path, optimizer: true, type: 'load_weights' };
    const { json } = await client.post('load_weights', body);
    expect((await client.result(json.request_id, 'LoadWeights')).json.model_id).toBe(`${sessionId}:train:1`);
    expect((await client.post('get_info', { model_id: `${sessionId}:train:1`, type: 'get_info' })).json).toMatchObject({
      is_lora: true,
      lora_rank: 4,
    });
    expect((await client.post('load_weights', { ...body, model_seq_id: 2, path: 'tinker://x/weights/y' })).status).toBe(404);
  });

  rawTest('refuses a mix of the two ways to address it', async ({ client }) => {
    const body = { path: 'tinker://a/weights/b', optimizer: false, type: 'load_weights' };
    expect((await client.post('load_weights', body)).status).toBe(422);
    expect((await client.post('load_weights', { ...body, model_id: 'm', seq_id: 1, session_id: 's', model_seq_id: 0 })).status).toBe(422);
  });

  rawTest('reads what others publish, or what a token opens', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const path = (await save(client, modelId, 1, 'a')).json.path;
    const other = client.sibling('tml-other');
    const theirs = await other.createModel(await other.createSession());
    const load = async (seqId: number, extra: Record<string, unknown>): Promise<RawAnswer> => {
      const { json } = await other.post('load_weights', {
        model_id: theirs,
        seq_id: seqId,
        path,
        optimizer: false,
        type: 'load_weights',
        ...extra,
      });
      return other.result(json.request_id, 'LoadWeights');
    };
    expect((await load(1, {})).json.category).toBe('user');
    expect((await load(2, { weights_access_token: client.apiKey })).json.path).toBe(path);
    await client.call('POST', `/api/v1/training_runs/${modelId}/checkpoints/weights/a/publish`);
    expect((await load(3, {})).json.path).toBe(path);
    expect((await other.post('weights_info', { tinker_path: path })).json).toMatchObject({ base_model: 'tinkex/tiny', lora_rank: 4 });
    await other.close();
  });

  rawTest('the token never shows in the recording', async ({ server, client }) => {
    await client.post('load_weights', {
      model_id: 'm',
      seq_id: 1,
      path: 'tinker://a/weights/b',
      optimizer: false,
      weights_access_token: 'tml-secret',
      type: 'load_weights',
    });
    const { inspect } = await import('node:util');
    expect(
      inspect(server.calls, { depth: 10 }) + JSON.stringify(server.calls) + JSON.stringify(server.callsTo('loadWeights')[0]?.request),
    ).not.toContain('tml-');
  });
});

describe('listings', () => {
  rawTest('of runs have cursors and their last checkpoints', async ({ client }) => {
    const sessionId = await client.createSession();
    const models = [await client.createModel(sessionId, 0), await client.createModel(sessionId, 1), await client.createModel(sessionId, 2)];
    await save(client, models[2]!, 1, 'a');
    const first = (await client.get('training_runs?limit=2&offset=0&access_scope=owned')).json;
    expect(first.cursor).toEqual({ offset: 0, limit: 2, total_count: 3 });
    expect(first.training_runs.map((run: { training_run_id: string }) => run.training_run_id)).toEqual([models[2], models[1]]);
    expect(first.training_runs[0].last_checkpoint).toMatchObject({
      checkpoint_id: 'weights/a',
      checkpoint_type: 'training',
      public: false,
      expires_at: null,
    });
    const second = (await client.get('training_runs?limit=2&offset=2&access_scope=owned')).json;
    expect(second.training_runs).toHaveLength(1);
    expect((await client.get('training_runs?project_id=none')).json.training_runs).toEqual([]);
    expect((await client.get('training_runs/nobody?access_scope=owned')).status).toBe(404);
  });

  rawTest('of checkpoints are newest first for the user, in order for a run', async ({ client, clock }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    await clock.advance(1_000);
    await saveForSampler(client, modelId, 2, { path: 'b' });
    const ids = (answer: RawAnswer): string[] =>
      answer.json.checkpoints.map((checkpoint: { checkpoint_id: string }) => checkpoint.checkpoint_id);
    expect(ids(await client.get(`training_runs/${modelId}/checkpoints`))).toEqual(['weights/a', 'sampler_weights/b']);
    const all = await client.get('checkpoints?limit=1&offset=0');
    expect(ids(all)).toEqual(['sampler_weights/b']);
    expect(all.json.cursor).toEqual({ offset: 0, limit: 1, total_count: 2 });
  });
});

describe('a checkpoint', () => {
  rawTest('expires at the end of its time', async ({ client, clock }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a', { ttl_seconds: 3_600 });
    const setTtl = (seconds: number | null) =>
      client.call('PUT', `/api/v1/training_runs/${modelId}/checkpoints/weights/a/ttl`, { body: { ttl_seconds: seconds } });
    await clock.advance(3_599_000);
    expect((await client.get('checkpoints')).json.checkpoints).toHaveLength(1);
    expect((await setTtl(7_200)).status).toBe(200);
    await clock.advance(7_199_000);
    expect((await setTtl(null)).status).toBe(200);
    await clock.advance(7_200_000);
    expect((await client.get('checkpoints')).json.checkpoints[0].expires_at).toBeNull();
    expect((await setTtl(3_600)).status).toBe(200);
    await clock.advance(3_600_000);
    expect((await client.get('checkpoints')).json.checkpoints).toEqual([]);
    expect((await setTtl(3_600)).status).toBe(404);
  });

  rawTest('lives from an hour to ten years, or forever', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    const tenYears = 10 * 365 * 86_400;
    const statuses: number[] = [];
    for (const seconds of [0, 3_599, 3_600, tenYears, tenYears + 1]) {
      const body = { ttl_seconds: seconds };
      statuses.push((await client.call('PUT', `/api/v1/training_runs/${modelId}/checkpoints/weights/a/ttl`, { body })).status);
    }
    expect(statuses).toEqual([400, 400, 200, 200, 400]);
    const early = { model_id: modelId, path: 'b', seq_id: 2, ttl_seconds: 3_599, overwrite: false, type: 'save_weights' };
    expect((await client.post('save_weights', early)).status).toBe(400);
  });

  rawTest('is published once and made private once', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    const path = `/api/v1/training_runs/${modelId}/checkpoints/weights/a/publish`;
    const statuses = [];
    for (const method of ['POST', 'POST', 'DELETE', 'DELETE']) statuses.push((await client.call(method, path)).status);
    expect(statuses).toEqual([200, 409, 200, 409]);
    const headers = { 'x-idempotency-key': 'one' };
    expect((await client.call('POST', path, { headers })).status).toBe(200);
    expect((await client.call('POST', path, { headers })).status, 'a retry after a lost reply').toBe(200);
  });

  rawTest('is deleted, and then is not there', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    const path = `/api/v1/training_runs/${modelId}/checkpoints/weights/a`;
    expect((await client.call('DELETE', path)).status).toBe(200);
    expect((await client.call('DELETE', path)).status).toBe(404);
    expect((await client.call('DELETE', `/api/v1/training_runs/${modelId}/checkpoints/nonsense`)).status).toBe(400);
  });

  rawTest('is archived as a real tar behind a redirect that needs no key, in parts too', async ({ client, server, clock }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    const { status, headers, bytes } = await client.get(`training_runs/${modelId}/checkpoints/weights/a/archive`);
    expect([status, bytes.length]).toEqual([302, 0]);
    expect(new Date(String(headers['expires'])).getTime()).toBe(clock.wallMs() + 900_000);
    const path = String(headers['location']).slice(server.url.length);
    const whole = await client.call('GET', path, { headers: { 'x-api-key': undefined } });
    expect(whole.headers['accept-ranges']).toBe('bytes');
    const names = (await unpackTar(whole.bytes)).map(({ header }) => header.name);
    expect(names).toEqual(['adapter_config.json', 'adapter_model.bin', 'optimizer.json', 'checkpoint_complete']);
    const tail = await client.call('GET', path, { headers: { range: 'bytes=1000-', 'x-api-key': undefined } });
    expect(tail.status).toBe(206);
    expect(tail.headers['content-range']).toBe(`bytes 1000-${whole.bytes.length - 1}/${whole.bytes.length}`);
    expect(tail.bytes).toEqual(whole.bytes.subarray(1000));
    expect((await client.call('GET', path, { headers: { range: 'bytes=9999999-' } })).status).toBe(416);
    expect((await client.call('GET', path, { headers: { range: 'bytes=0-9', 'if-range': '"other"' } })).status).toBe(200);
    await clock.advance(900_000);
    expect((await client.call('GET', path)).status).toBe(403);
    expect(server.calls.every((call) => !call.path.includes('signature=') || call.path.endsWith('signature=[redacted]'))).toBe(true);
  });
});

describe('an archive that takes time', () => {
  rawTest.override({ options: { archiveBuildMs: 30_000 } });

  rawTest('answers 503 until it is built', async ({ client, clock }) => {
    const modelId = await client.createModel(await client.createSession());
    await save(client, modelId, 1, 'a');
    const path = `training_runs/${modelId}/checkpoints/weights/a/archive`;
    expect((await client.get(path)).status).toBe(503);
    await clock.advance(30_000);
    expect((await client.get(path)).status).toBe(302);
  });
});
