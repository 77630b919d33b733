import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { sampleBody } from './raw-client.js';

describe('credentials', () => {
  rawTest('a request without a key gets 401', async ({ server, client }) => {
    const { status, json } = await client.get('training_runs', { headers: { 'x-api-key': undefined } });
    expect(status).toBe(401);
    expect(json.detail).toMatch(/X-API-Key/);
    expect(brokenRules(server)).toEqual(['api-key-missing']);
  });

  rawTest('a key the hosted service would not take gets 401', async ({ server, client }) => {
    const { status } = await client.get('training_runs', { apiKey: 'sk-something' });
    expect(status).toBe(401);
    expect(brokenRules(server)).toEqual(['api-key-unknown']);
  });

  rawTest('a foreign token gets 401', async ({ server, client }) => {
    const { status } = await client.get('training_runs', { apiKey: 'eyJhbGciOiJub25lIn0.e30.x' });
    expect(status).toBe(401);
    expect(brokenRules(server)).toEqual(['api-key-unknown']);
  });

  rawTest('liveness needs no key', async ({ server, client }) => {
    const { status, json } = await client.get('healthz', { headers: { 'x-api-key': undefined } });
    expect([status, json]).toEqual([200, { status: 'ok' }]);
    server.verify();
  });
});

describe('with a list of keys', () => {
  rawTest.override({ options: { apiKeys: ['tml-one', 'tml-two'] } });

  rawTest('only those are good, and the first is offered', async ({ server, client }) => {
    expect(server.apiKey).toBe('tml-one');
    expect((await client.get('sessions?limit=1', { apiKey: 'tml-two' })).status).toBe(200);
    expect((await client.get('sessions?limit=1', { apiKey: 'tml-three' })).status).toBe(401);
  });
});

describe('the headers of every request', () => {
  rawTest('a POST without an idempotency key is answered and noted', async ({ server, client }) => {
    const { status } = await client.post('client/config', { sdk_version: '0.25.0' }, { headers: { 'x-idempotency-key': undefined } });
    expect(status).toBe(200);
    expect(brokenRules(server)).toEqual(['idempotency-key-missing']);
  });

  rawTest('a GET needs none', async ({ server, client }) => {
    expect((await client.get('get_server_capabilities')).status).toBe(200);
    server.verify();
  });

  rawTest('a body without a content type gets 415', async ({ server, client }) => {
    const body = JSON.stringify({ sdk_version: '0.25.0' });
    const { status } = await client.post('client/config', body, { headers: { 'content-type': undefined } });
    expect(status).toBe(415);
    expect(brokenRules(server)).toEqual(['content-type']);
  });

  rawTest('an empty publish names its content type all the same', async ({ server, client }) => {
    const path = '/api/v1/training_runs/r/checkpoints/weights/a/publish';
    expect((await client.call('POST', path, { headers: { 'content-type': undefined } })).status).toBe(404);
    expect(brokenRules(server)).toEqual(['content-type']);
  });

  rawTest('a GET with a body is noted', async ({ server, client }) => {
    await client.call('GET', '/api/v1/healthz', { body: 'x' });
    expect(brokenRules(server)).toEqual(['content-length']);
  });

  rawTest('so is any other body where none belongs', async ({ server, client }) => {
    const path = '/api/v1/training_runs/r/checkpoints/weights/a/publish';
    expect((await client.call('POST', path)).status).toBe(404);
    server.verify();
    await client.call('POST', path, { body: { public: true } });
    expect(brokenRules(server)).toEqual(['content-length']);
  });
});

describe('asample', () => {
  rawTest('wants the backpressure header', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { status } = await client.post('asample', sampleBody(samplerId, 0));
    expect(status).toBe(200);
    expect(brokenRules(server)).toEqual(['backpressure-header']);
  });
});

describe('retrieve_future', () => {
  rawTest('wants its number and its type', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.poll(json.request_id, 'Sample', 0, {
      headers: { 'x-tinker-request-iteration': undefined, 'x-tinker-request-type': undefined },
    });
    await client.poll(json.request_id, 'Sample', 1, { headers: { 'x-tinker-request-iteration': 'one' } });
    expect(brokenRules(server)).toEqual(['poll-iteration', 'poll-request-type', 'poll-iteration']);
  });

  rawTest('wants the type of the operation that made the promise', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.poll(json.request_id, 'OptimStep', 0, { headers: { accept: 'application/x-protobuf' } });
    expect(brokenRules(server)).toEqual(['poll-request-type']);
  });

  rawTest('wants the round trip time on poll 0 and on no other', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.poll(json.request_id, 'Sample', 0, { headers: { 'x-tinker-create-promise-roundtrip-time': '1.9073486328125e-06' } });
    expect(brokenRules(server)).toEqual([]);
    await client.poll(json.request_id, 'Sample', 0, { headers: { 'x-tinker-create-promise-roundtrip-time': undefined } });
    await client.poll(json.request_id, 'Sample', 3, { headers: { 'x-tinker-create-promise-roundtrip-time': '1' } });
    expect(brokenRules(server)).toEqual(['poll-roundtrip-time', 'poll-roundtrip-time']);
  });

  rawTest('wants protobuf to be accepted for a sample', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const { headers } = await client.poll(json.request_id, 'Sample', 0, { headers: { accept: 'application/json' } });
    expect(headers['content-type']).toBe('application/x-protobuf');
    expect(brokenRules(server)).toEqual(['poll-accept']);
  });
});

describe('rules that a test does not care about', () => {
  rawTest.override({ options: { ignoreRules: ['idempotency-key-missing'] } });

  rawTest('are not noted', async ({ server, client }) => {
    await client.post('client/config', { sdk_version: '0.25.0' }, { headers: { 'x-idempotency-key': undefined } });
    server.verify();
  });
});
