import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../src/index.js';
import { optimBody, RawClient } from './raw-client.js';

/** A model of the table, with the last ids of its vocabulary; and a name that is in no table. */
const MODELS = [
  { baseModel: 'Qwen/Qwen3-8B', last: 151_935, end: 151_645 },
  { baseModel: 'openai/gpt-oss-20b', last: 201_087, end: 200_002 },
  { baseModel: 'somebody/something-7b', last: 262_143, end: undefined },
];

describe.each(MODELS)('a client that asks for $baseModel', ({ baseModel, last, end }) => {
  let server: TestServer;
  let client: RawClient;

  beforeEach(async () => {
    server = await startServer({ dialect: 'json', anyModel: true });
    client = new RawClient(server);
  });

  afterEach(async () => {
    await client.close();
    await server.close();
  });

  it('trains its token ids, samples them, and stops at its own', async () => {
    const session = await client.createSession();
    const modelId = await client.createModel(session, 0, 8, baseModel);
    const prompt = [last, 17, last - 1];
    const answer = [last - 2, 5, end ?? last - 3];
    const all = [...prompt, ...answer];
    const datum = {
      model_input: { chunks: [{ tokens: all.slice(0, -1), type: 'encoded_text' }] },
      loss_fn_inputs: { target_tokens: { data: all.slice(1), dtype: 'int64', shape: [all.length - 1] } },
    };
    const losses: number[] = [];
    let seqId = 0;
    const train = async (data: unknown): Promise<{ status: number; json: never }> => {
      const body = { forward_backward_input: { data: [data], loss_fn: 'cross_entropy' }, model_id: modelId, seq_id: ++seqId };
      const { json } = await client.post('forward_backward', body);
      return (await client.result(json.request_id, 'ForwardBackward')) as never;
    };
    for (let step = 0; step < 20; step++) {
      const { json } = await train(datum);
      losses.push((json as { metrics: Record<string, number> }).metrics['loss:sum'] as number);
      const stepped = await client.post('optim_step', optimBody(modelId, ++seqId, 0.02));
      await client.result(stepped.json.request_id, 'OptimStep');
    }
    expect(losses[0]).toBeGreaterThan(11 * answer.length);
    expect(losses.at(-1)).toBeLessThan(1);

    const saved = await client.post('save_weights_for_sampler', { model_id: modelId, seq_id: ++seqId, path: 'now' });
    const { path } = (await client.result(saved.json.request_id, 'SaveWeightsForSampler')).json as { path: string };
    const created = await client.post('create_sampling_session', { session_id: session, sampling_session_seq_id: 0, model_path: path });
    const samplerId = created.json.sampling_session_id as string;
    const sample = async (seq: number, params: object): Promise<{ tokens: number[]; stop_reason: string }> => {
      const body = {
        prompt: { chunks: [{ tokens: prompt, type: 'encoded_text' }] },
        num_samples: 1,
        sampling_params: { temperature: 0, max_tokens: 3, ...params },
        sampling_session_id: samplerId,
        seq_id: seq,
      };
      const { json } = await client.sample(body);
      return (await client.result(json.request_id, 'Sample')).json.sequences[0];
    };
    expect(await sample(0, {})).toMatchObject({ tokens: answer, stop_reason: end === undefined ? 'length' : 'stop' });
    expect(await sample(1, { stop: [5] })).toMatchObject({ tokens: answer.slice(0, 2), stop_reason: 'stop' });

    const outside = { ...datum, model_input: { chunks: [{ tokens: [...all.slice(0, -2), last + 1], type: 'encoded_text' }] } };
    const refused = await train(outside);
    expect(JSON.stringify(refused.json)).toContain(`Token ${last + 1}`);
  });
});
