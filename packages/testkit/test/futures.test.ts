import { protobuf } from '@tinkex/types/wire';
import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { optimBody, sampleBody } from './raw-client.js';

describe('a pending promise', () => {
  rawTest('is held for the long poll, then answered 408 with its queue state', async ({ clock, server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('optim_step', optimBody(modelId, 2));
    const poll = client.poll(json.request_id, 'OptimStep');
    await clock.waitForTimers(2);
    await clock.advance(19_999);
    expect(server.inFlight('retrieveFuture')).toBe(1);
    await clock.advance(1);
    const answer = await poll;
    expect(answer.status).toBe(408);
    expect(answer.json).toEqual({ type: 'try_again', request_id: json.request_id, queue_state: 'active' });
  });

  rawTest('answers the moment its operation is done', async ({ server, client }) => {
    const gate = server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await gate.waitFor(1);
    const poll = client.poll(json.request_id, 'Sample');
    await server.waitForCalls('retrieveFuture', 1);
    gate.release();
    expect((await poll).status).toBe(200);
  });

  rawTest('forgets a poll whose client went away', async ({ clock, server, client }) => {
    server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const stop = new AbortController();
    const poll = client.poll(json.request_id, 'Sample', 0, { signal: stop.signal });
    await clock.waitForTimers(1);
    stop.abort();
    await expect(poll).rejects.toThrow();
    while (server.inFlight('retrieveFuture') > 0) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(clock.pending).toBe(0);
  });

  rawTest('tells why the queue is paused, at once, and runs when it is resumed', async ({ clock, server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    server.pauseQueue();
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const poll = client.poll(json.request_id, 'Sample');
    await clock.waitForTimers(1);
    server.pauseQueue({ state: 'paused_rate_limit', reason: 'too many tokens' });
    const answer = await poll;
    expect(answer.status).toBe(408);
    expect(answer.json).toMatchObject({ queue_state: 'paused_rate_limit', queue_state_reason: 'too many tokens' });
    const next = client.poll(json.request_id, 'Sample', 1);
    server.resumeQueue();
    expect((await next).status).toBe(200);
  });

  rawTest('1,000 polls at once are all held and all answered', async ({ clock, server, client }) => {
    const gate = server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const requestIds = await Promise.all(
      Array.from({ length: 100 }, async (_, seqId) => (await client.sample(sampleBody(samplerId, seqId))).json.request_id as string),
    );
    // In memory, so that the number of sockets is not what is tested; ten polls for each promise.
    const polls = Array.from({ length: 1_000 }, (_, index) =>
      server.handle(
        new Request(`${server.url}/api/v1/retrieve_future`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/x-protobuf',
            'x-api-key': server.apiKey,
            'x-idempotency-key': String(index),
            'x-tinker-request-iteration': '1',
            'x-tinker-request-type': 'Sample',
          },
          body: JSON.stringify({ request_id: requestIds[index % 100], allow_metadata_only: true }),
        }),
      ),
    );
    await clock.waitForTimers(1_000);
    expect(server.inFlight('retrieveFuture')).toBe(1_000);
    gate.open();
    const answers = await Promise.all(polls);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(server.maxConcurrency('retrieveFuture')).toBe(1_000);
    expect(clock.pending).toBe(0);
    server.verify();
  });
});

describe('1,000 long polls over sockets', () => {
  rawTest('are held together', async ({ server, client, clock }) => {
    const gate = server.gate('asample', { at: 'execution' });
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const clients = Array.from({ length: 4 }, () => client.sibling());
    const polls = Array.from({ length: 1_000 }, (_, index) => clients[index % 4]!.poll(json.request_id, 'Sample', index));
    await clock.waitForTimers(1_000);
    gate.open();
    const answers = await Promise.all(polls);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1_000);
    await Promise.all(clients.map((each) => each.close()));
  });
});

describe('a finished promise', () => {
  rawTest('can be polled again, with the same bytes', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const first = await client.result(json.request_id, 'Sample');
    const again = await client.poll(json.request_id, 'Sample', 1);
    expect(again.bytes).toEqual(first.bytes);
    expect(protobuf.sampleResponse.decode(first.bytes).sequences[0]?.tokens).toEqual(Int32Array.of(1, 2, 3, 4));
  });

  rawTest('is gone after the retention time', async ({ clock, server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.result(json.request_id, 'Sample');
    await clock.advance(899_999);
    expect((await client.poll(json.request_id, 'Sample', 1)).status).toBe(200);
    await clock.advance(1);
    expect((await client.poll(json.request_id, 'Sample', 2)).status).toBe(410);
    server.verify();
  });

  rawTest('can be made gone by the test', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    server.expireFuture(json.request_id);
    expect((await client.poll(json.request_id, 'Sample')).status).toBe(410);
  });

  rawTest('that is unknown gets 404', async ({ server, client }) => {
    expect((await client.poll('nobody', 'Sample')).status).toBe(404);
    expect(brokenRules(server)).toEqual(['future-unknown']);
  });

  rawTest('that failed by the caller says so', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const body = { model_id: modelId, seq_id: 1, path: 'tinker://no:train:0/weights/x', optimizer: false, type: 'load_weights' };
    const { json } = await client.post('load_weights', body);
    const answer = await client.result(json.request_id, 'LoadWeights');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ error: 'There is no checkpoint tinker://no:train:0/weights/x', category: 'user' });
  });
});

describe('a large result', () => {
  rawTest.override({ options: { metadataOnlyBytes: 64 } });

  rawTest('is announced first, and sent when the poll insists', async ({ client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0, { num_samples: 8 }));
    const announced = await client.result(json.request_id, 'Sample');
    expect(announced.json.status).toBe('complete_metadata');
    const sent = await client.poll(json.request_id, 'Sample', 1, { allowMetadataOnly: false });
    expect(sent.bytes).toHaveLength(announced.json.response_payload_size);
  });

  rawTest('a small one is sent at once', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('optim_step', optimBody(modelId, 1));
    expect((await client.result(json.request_id, 'OptimStep')).json).toEqual({ metrics: { 'step:max': 1 } });
  });
});

describe('operations that take their time', () => {
  rawTest.override({ options: { executionMs: (route) => (route === 'asample' ? 1_000 : 0) } });

  rawTest('finish when the clock says', async ({ clock, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const poll = client.poll(json.request_id, 'Sample');
    await clock.waitForTimers(2);
    await clock.advance(1_000);
    expect((await poll).status).toBe(200);
  });
});
