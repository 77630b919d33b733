import { mkdtemp, readdir, readFile, rm, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../src/index.js';
import { forwardBackwardBody, optimBody, RawClient, sampleBody } from './raw-client.js';

describe('a server with a state folder', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'testkit-state-'));
  });

  afterEach(async () => {
    await rm(dir, { recursive: true, force: true });
  });

  const start = (stateDir?: string): Promise<TestServer> =>
    startServer({ dialect: 'json', ...(stateDir === undefined ? {} : { stateDir }) });

  async function step(client: RawClient, modelId: string, number: number): Promise<number> {
    const { json } = await client.post('forward_backward', forwardBackwardBody(modelId, 2 * number + 1));
    const stepped = await client.post('optim_step', optimBody(modelId, 2 * number + 2));
    const output = await client.result(json.request_id, 'ForwardBackward');
    await client.result(stepped.json.request_id, 'OptimStep');
    return output.json.metrics['loss:sum'];
  }

  it('continues after a restart, bit for bit', async () => {
    const straight = await start();
    const straightClient = new RawClient(straight);
    const straightModel = await straightClient.createModel(await straightClient.createSession());
    const expected = [];
    for (let number = 0; number < 6; number++) expected.push(await step(straightClient, straightModel, number));
    await straightClient.close();
    await straight.close();

    const losses = [];
    let modelId = '';
    for (let life = 0; life < 3; life++) {
      const server = await start(dir);
      const client = new RawClient(server);
      if (life === 0) modelId = await client.createModel(await client.createSession());
      losses.push(await step(client, modelId, 2 * life), await step(client, modelId, 2 * life + 1));
      server.verify();
      await client.close();
      await server.close();
    }
    expect(losses).toEqual(expected);
  });

  it('keeps sessions, checkpoints, samplers and used numbers, and never a key', async () => {
    let server = await start(dir);
    let client = new RawClient(server);
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const { json } = await client.post('save_weights', { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' });
    await client.result(json.request_id, 'SaveWeights');
    const unnamed = { model_id: modelId, sampling_session_seq_id: 0, seq_id: 2, type: 'save_weights_for_sampler' };
    const saved = await client.post('save_weights_for_sampler', unnamed);
    const samplerId = (await client.result(saved.json.request_id, 'SaveWeightsForSampler')).json.sampling_session_id;
    await client.close();
    await server.close();
    const state = await readFile(join(dir, 'state.json'), 'utf8');
    expect(state).not.toContain(server.apiKey);
    expect((await readdir(join(dir, 'blobs'))).every((name) => /^[0-9a-f]{64}$/.test(name))).toBe(true);

    server = await start(dir);
    client = new RawClient(server);
    expect((await client.get('sessions')).json.sessions).toEqual([sessionId]);
    expect((await client.get('checkpoints')).json.checkpoints[0].tinker_path).toBe(`tinker://${modelId}/weights/a`);
    expect((await client.poll(json.request_id, 'SaveWeights')).status, 'promises of the earlier life are gone').toBe(410);
    const again = await client.post('save_weights', { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' });
    expect(again.json).toEqual(json);
    const sampled = await client.sample(sampleBody(samplerId, 0));
    expect((await client.result(sampled.json.request_id, 'Sample')).status).toBe(200);
    expect(await client.createSession()).not.toBe(sessionId);
    await client.call('DELETE', `/api/v1/training_runs/${modelId}/checkpoints/weights/a`);
    await client.close();
    await server.close();
    server = await start(dir);
    const other = new RawClient(server, 'tml-other');
    expect((await other.get('sessions')).json.sessions).toEqual([]);
    await other.close();
    await server.close();
  });

  it('knows that promises of the earlier life are gone: samples and operations that waited for their turn too', async () => {
    let server = await start(dir);
    let client = new RawClient(server);
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const samplerId = await client.createSampler(sessionId);
    server.gate('asample', { at: 'execution' });
    const sample = await client.sample(sampleBody(samplerId, 0));
    const behindGap = await client.post('optim_step', optimBody(modelId, 2));
    await client.close();
    await server.close();

    server = await start(dir);
    client = new RawClient(server);
    expect((await client.poll(sample.json.request_id, 'Sample')).status).toBe(410);
    expect((await client.poll(behindGap.json.request_id, 'OptimStep')).status).toBe(410);
    const again = await client.sample(sampleBody(samplerId, 0));
    expect((await client.result(again.json.request_id, 'Sample')).status).toBe(200);
    server.verify();
    await client.close();
    await server.close();
  });

  it('writes soon after a change, without being closed', async () => {
    const server = await start(dir);
    const client = new RawClient(server);
    const sessionId = await client.createSession();
    for await (const _change of watch(dir)) {
      const text = await readFile(join(dir, 'state.json'), 'utf8').catch(() => '');
      if (text.includes(sessionId)) break;
    }
    expect(await readFile(join(dir, 'state.json'), 'utf8')).toContain(sessionId);
    await client.close();
    await server.close();
  });

  it('refuses a folder that holds something else', async () => {
    await writeFile(join(dir, 'state.json'), '{"hello": 1}');
    await expect(start(dir)).rejects.toThrow(/does not hold the state of a test server/);
    await writeFile(join(dir, 'state.json'), 'nonsense');
    await expect(start(dir)).rejects.toThrow(/does not hold the state of a test server/);
  });
});
