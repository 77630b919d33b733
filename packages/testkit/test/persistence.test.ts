import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
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
    for (const name of await readdir(dir, { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect(await readFile(join(name.parentPath, name.name), 'latin1')).not.toContain(server.apiKey);
    }
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

  it('keeps any JSON value, and a key that was revoked stays revoked', async () => {
    const metadata = '{"big":12345678901234567890,"small":-0.5,"__proto__":{"x":null},"text":"\\u0000\\ud800","list":[[],{}]}';
    let server = await start(dir);
    let client = new RawClient(server);
    const { json } = await client.post('create_session', `{"tags":["a"],"user_metadata":${metadata},"sdk_version":"0.25.0"}`);
    const before = await client.get(`sessions/${json.session_id}`);
    expect(before.text).toContain('12345678901234567890');
    const leaver = new RawClient(server, 'tml-leaver');
    expect((await leaver.call('DELETE', '/api/v1/auth/apikey/me')).status).toBe(200);
    await client.close();
    await leaver.close();
    await server.close();

    server = await start(dir);
    client = new RawClient(server);
    expect((await client.get(`sessions/${json.session_id}`)).text).toBe(before.text);
    expect((await client.get('sessions', { apiKey: 'tml-leaver' })).status).toBe(401);
    await client.close();
    await server.close();
  });

  it('belongs to one server at a time', async () => {
    const server = await start(dir);
    await expect(start(dir)).rejects.toThrow(new RegExp(`in use by process ${process.pid} on`));
    await server.close();
    await (await start(dir)).close();
  });

  it.each([
    ['its process is gone', { pid: 2 ** 30, host: hostname(), start: 'x' }],
    ['its process number belongs to another process now', { pid: process.pid, host: hostname(), start: 'earlier' }],
  ])('takes over a lock when %s', async (_why, holder) => {
    await writeFile(join(dir, 'lock'), JSON.stringify(holder));
    await (await start(dir)).close();
  });

  it('takes over the lock of another machine only after it has been silent for long', async () => {
    const lock = join(dir, 'lock');
    await writeFile(lock, JSON.stringify({ pid: 1, host: 'elsewhere', start: 'x' }));
    await expect(start(dir)).rejects.toThrow(/in use by process 1 on elsewhere/);
    await utimes(lock, 1, 1);
    await (await start(dir)).close();
  });

  it('writes snapshots under a steady load, and removes what they replace', async () => {
    const server = await start(dir);
    const client = new RawClient(server);
    const modelId = await client.createModel(await client.createSession(), 0, 32);
    const generations = async () => (await readdir(dir)).filter((name) => name.startsWith('snapshot-')).sort();
    const seen = new Set<string>();
    for (let number = 0; number < 200 && seen.size < 1; number++) {
      await step(client, modelId, number);
      for (const name of await generations()) seen.add(name);
    }
    expect(seen.size).toBe(1);
    await client.close();
    await server.close();
    const names = await readdir(dir);
    expect(names.filter((name) => name !== 'blobs')).toHaveLength(2);
    expect(await generations()).toHaveLength(1);
  });

  it('refuses a folder that holds something else', async () => {
    await writeFile(join(dir, 'state.json'), '{"hello": 1}');
    await expect(start(dir)).rejects.toThrow(/state.json does not hold the state of a test server/);
    await rm(join(dir, 'state.json'));
    await writeFile(join(dir, 'snapshot-1'), 'nonsense');
    await expect(start(dir)).rejects.toThrow(/does not hold the state of a test server/);
  });
});
