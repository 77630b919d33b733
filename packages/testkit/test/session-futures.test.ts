import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cannedEngine, type Engine, startServer } from '../src/index.js';
import { brokenRules, rawTest } from './fixture.js';
import { RawClient, sampleBody } from './raw-client.js';

const BLOCK = 1_000_000_000;

interface SessionPoll {
  readonly holder?: number;
  readonly cursor?: number;
  readonly retrieved?: readonly string[];
}

function poll(client: RawClient, samplerId: string, { holder = 0, cursor = 0, retrieved = [] }: SessionPoll = {}) {
  const target = { type: 'sampling_session', sampling_session_id: samplerId, cloned_sampler_id: holder };
  return client.post('retrieve_futures', { target, prev_cursor: cursor, retrieved_request_ids: retrieved });
}

describe('retrieve_futures', () => {
  rawTest('is held until a sample ends, then names it with its cursor and the size of its result', async ({ server, client }) => {
    const gate = server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const answer = poll(client, samplerId);
    await server.waitForCalls('retrieveFutures', 1);
    gate.open();
    const { completions, cursor } = (await answer).json;
    const result = await client.result(json.request_id, 'Sample');
    expect(completions).toEqual([
      { state: 'finished', request_id: json.request_id, response_payload_uncompressed_size: result.bytes.length },
    ]);
    expect(cursor).toBe(1);
    server.verify();
  });

  const impatient = rawTest.extend({ options: { longPollMs: 0 } });

  impatient('repeats what the cursor has not passed, and drops the rest', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const ids: string[] = [];
    for (const seqId of [0, 1]) {
      const { json } = await client.sample(sampleBody(samplerId, seqId));
      await client.result(json.request_id, 'Sample');
      ids.push(json.request_id);
    }
    const named = async (cursor: number) =>
      (await poll(client, samplerId, { cursor })).json.completions.map(({ request_id }: { request_id: string }) => request_id);
    expect(await named(0)).toEqual(ids);
    expect(await named(0)).toEqual(ids);
    expect(await named(1)).toEqual(ids.slice(1));
    expect(await named(0)).toEqual(ids.slice(1));
    expect(await named(2)).toEqual([]);
    server.verify();
  });

  impatient('keeps the holders of a sampling session apart', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 3 * BLOCK + 7));
    await client.result(json.request_id, 'Sample');
    expect((await poll(client, samplerId, { holder: 0 })).json).toEqual({ completions: [], cursor: 0 });
    expect((await poll(client, samplerId, { holder: 3 })).json.completions).toHaveLength(1);
  });

  impatient('names a failed sample, whose error then comes from retrieve_future', async ({ server, client }) => {
    server.on('asample').fail({ error: 'no', category: 'user' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    expect((await client.result(json.request_id, 'Sample')).json).toMatchObject({ error: 'no' });
    expect((await poll(client, samplerId)).json.completions).toEqual([{ state: 'failed', request_id: json.request_id }]);
  });

  impatient('names a future that expires before its sample has ended', async ({ server, client }) => {
    server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    server.expireFuture(json.request_id);
    expect((await poll(client, samplerId)).json.completions).toEqual([{ state: 'failed', request_id: json.request_id }]);
  });

  impatient('deletes the results that the client has retrieved', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.result(json.request_id, 'Sample');
    await poll(client, samplerId, { cursor: 1, retrieved: [json.request_id] });
    expect((await client.poll(json.request_id, 'Sample', 1)).status).toBe(410);
  });

  rawTest('of an unknown sampling session gets 404', async ({ server, client }) => {
    expect((await poll(client, 'unknown')).status).toBe(404);
    expect(brokenRules(server)).toEqual(['sampler-unknown']);
  });

  it('names what a restart has lost, behind the cursor from before it', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'testkit-futures-'));
    const options = { engine: 'canned', stateDir, longPollMs: 0 } as const;
    const first = await startServer(options);
    const client = new RawClient(first);
    const samplerId = await client.createSampler(await client.createSession());
    first.gate('asample', { at: 'execution' });
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.close();
    await first.close();
    const second = await startServer(options);
    const again = new RawClient(second);
    expect((await poll(again, samplerId, { cursor: 5 })).json).toEqual({
      completions: [{ state: 'failed', request_id: json.request_id }],
      cursor: 6,
    });
    expect((await again.poll(json.request_id, 'Sample')).status).toBe(410);
    await again.close();
    await second.close();
    await rm(stateDir, { recursive: true, force: true });
  });
});

describe('cancel_future', () => {
  const samples: unknown[] = [];
  const noting: Engine = {
    ...cannedEngine(),
    createSampler: () => ({
      sample: (input) => {
        samples.push(input);
        return { sequences: [], promptCacheHitTokens: 0 };
      },
    }),
  };
  const noted = rawTest.extend({ options: { engine: noting } });

  noted('keeps a waiting sample from running, fails its future, and may be repeated', async ({ server, client }) => {
    const gate = server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await gate.waitFor(1);
    expect((await client.post('cancel_future', { request_id: json.request_id })).status).toBe(200);
    expect((await client.post('cancel_future', { request_id: json.request_id })).status).toBe(200);
    gate.open();
    expect((await client.result(json.request_id, 'Sample')).json).toEqual({
      error: 'The client has canceled this sample',
      category: 'user',
    });
    // The next sample passes the same gate: the canceled one would have run before it.
    const next = await client.sample(sampleBody(samplerId, 1));
    await client.result(next.json.request_id, 'Sample');
    expect(samples).toHaveLength(1);
    expect(server.pendingFutures).toBe(0);
    server.verify();
  });

  rawTest('leaves a finished sample alone', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const { bytes } = await client.result(json.request_id, 'Sample');
    await client.post('cancel_future', { request_id: json.request_id });
    expect((await client.poll(json.request_id, 'Sample', 1)).bytes).toEqual(bytes);
  });

  rawTest('takes only samples that exist', async ({ server, client }) => {
    server.gate('createModel', { at: 'execution' });
    const sessionId = await client.createSession();
    const { json } = await client.post('create_model', { session_id: sessionId, model_seq_id: 0, base_model: 'tinkex/tiny' });
    expect((await client.post('cancel_future', { request_id: json.request_id })).status).toBe(400);
    expect((await client.post('cancel_future', { request_id: 'unknown' })).status).toBe(404);
    expect(brokenRules(server)).toEqual(['future-unknown']);
  });
});

describe('join_sampling_session', () => {
  rawTest('counts the copies from 1, and a retry is not another copy', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const body = { sampling_session_id: samplerId, type: 'join_sampling_session' };
    const counter = async (key: string) =>
      (await client.post('join_sampling_session', body, { headers: { 'x-idempotency-key': key } })).json.client_counter;
    expect([await counter('a'), await counter('a'), await counter('b')]).toEqual([1, 1, 2]);
    server.verify();
  });
});

describe('sequence IDs', () => {
  rawTest('are one per sample in the answer of a submission, and the same for a repeat', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const first = await client.sample(sampleBody(samplerId, 0, { num_samples: 3 }));
    const other = await client.sample(sampleBody(samplerId, 1));
    expect(new Set([...first.json.sample_sequence_ids, ...other.json.sample_sequence_ids]).size).toBe(4);
    expect((await client.sample(sampleBody(samplerId, 0, { num_samples: 3 }))).json).toEqual(first.json);
  });
});

describe('flags', () => {
  const flagged = rawTest.extend({
    options: { flags: { sample_use_retrieve_futures: true, sample_cancel_enabled: true, sample_cancel_max_batch_size: 3 } },
  });

  flagged('are sent by the endpoint that each belongs to', async ({ client }) => {
    const { json: config } = await client.post('client/config', { sdk_version: '0.36.0' });
    const { json: dynamic } = await client.post('client/dynamic_config', { sdk_version: '0.36.0' });
    expect(config).toEqual({ sample_use_retrieve_futures: true });
    expect(dynamic).toEqual({ refresh_interval_sec: 300, sample_cancel_enabled: true, sample_cancel_max_batch_size: 3 });
  });

  it('must exist and have the right type', async () => {
    await expect(startServer({ flags: { sample_use_retrieve_future: true } })).rejects.toThrow(/no flag "sample_use_retrieve_future"/);
    await expect(startServer({ flags: { sample_cancel_max_batch_size: 'many' } })).rejects.toThrow(/wrong type/);
  });
});
