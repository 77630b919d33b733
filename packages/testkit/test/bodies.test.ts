import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { loadWasmZstd } from '../src/checks/decompress.js';
import { startServer } from '../src/index.js';
import { brokenRules, rawTest } from './fixture.js';
import { optimBody, RawClient, sampleBody } from './raw-client.js';

/** endpoints.md 10: model `sess-1:train:0`, seq 1, one datum. */
const EXAMPLE = Buffer.from(
  '0a0e736573732d313a747261696e3a3010011a540a0c0a0a0a08010000000200000012280a0d7461726765745f746f6b656e7312170a10030000000000000004000000000000001802220102121a0a0777656967687473120f0a080000803f0000003f1801220102220d63726f73735f656e74726f7079',
  'hex',
);

/** The example for another model of the same length of name. */
function exampleFor(modelId: string): Uint8Array {
  expect(modelId).toHaveLength('sess-0001:train:0'.length);
  return Buffer.concat([Buffer.from([0x0a, modelId.length]), Buffer.from(modelId), EXAMPLE.subarray(16)]);
}

const PROTOBUF = { 'content-type': 'application/x-protobuf' };

interface BodyCase {
  readonly name: string;
  readonly input: { readonly endpoint: string };
  readonly expected: Record<string, unknown>;
}

const cases = readVectors('request-bodies') as BodyCase[];
const jsonCases = cases.filter(({ input }) => /^(?:POST|PUT) \/api\/v1\/\S+$/.test(input.endpoint));

describe('every body the reference client sends', () => {
  it.for(jsonCases)('$name is taken as valid', async ({ name, input, expected }) => {
    await using server = await startServer({ engine: 'canned', dialect: 'both', baseModels: ['Qwen/Qwen3-8B', 'b'] });
    const client = new RawClient(server);
    const [method = '', path = ''] = input.endpoint.split(' ');
    const { status, json } = await client.call(method, path.replace(/\{\w+\}/g, 'x'), { body: expected });
    await client.close();
    // Valid, but this server does not have that optimizer and must not train with another.
    if (name === 'create-model-future-optimizer') expect(json.detail).toContain('The optimizer brand_new is not supported');
    else expect([400, 413, 415, 422], JSON.stringify(json)).not.toContain(status);
    expect(brokenRules(server).filter((rule) => rule.startsWith('body') || rule === 'field-null')).toEqual([]);
  });

  it('there are many of them', () => {
    expect(jsonCases.length).toBeGreaterThan(25);
  });
});

describe('a JSON body', () => {
  rawTest('that is not JSON gets 400 with a body and its length', async ({ server, client }) => {
    const { status, json, headers } = await client.post('create_session', '{"tags": [');
    expect(status).toBe(400);
    expect(json.detail).toBe('createSession: the body is not JSON (10 characters)');
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
    expect(brokenRules(server)).toEqual(['body-malformed']);
  });

  rawTest('that is no object gets 422', async ({ server, client }) => {
    expect((await client.post('create_session', '[1]')).status).toBe(422);
    expect(brokenRules(server)).toEqual(['body-invalid']);
  });

  rawTest('with an unknown field gets 422 that names it', async ({ server, client }) => {
    const { status, json } = await client.post('client/config', { sdk_version: '0.25.0', colour: 'red' });
    expect(status).toBe(422);
    expect(json.detail).toMatch(/colour/);
    expect(brokenRules(server)).toEqual(['body-invalid']);
  });

  rawTest('with a missing field gets 422', async ({ client }) => {
    expect((await client.post('client/config', {})).status).toBe(422);
  });

  rawTest('of a sample without its parameters gets 422, though the SDK lets its users leave them out', async ({ server, client }) => {
    const samplerId = await client.createSampler(await client.createSession());
    const { status, json } = await client.sample({ ...sampleBody(samplerId, 0), sampling_params: undefined });
    expect([status, json.detail]).toEqual([422, expect.stringContaining('sampling_params is required')]);
    expect(brokenRules(server)).toEqual(['body-invalid']);
  });

  rawTest('with null for an unset field gets 422 under its own rule', async ({ server, client }) => {
    const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0', project_id: null, type: 'create_session' };
    expect((await client.post('create_session', body)).status).toBe(422);
    expect(brokenRules(server)).toEqual(['field-null']);
  });

  rawTest('may clear a TTL with null', async ({ client }) => {
    const { status } = await client.call('PUT', '/api/v1/training_runs/r/checkpoints/weights/a/ttl', { body: { ttl_seconds: null } });
    expect(status).toBe(404);
  });

  rawTest('that was refused uses up its seq_id, so those behind it run', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    expect((await client.post('optim_step', { ...optimBody(modelId, 1), adam_params: { beta1: 'high' } })).status).toBe(422);
    const { json } = await client.post('optim_step', optimBody(modelId, 2));
    expect((await client.result(json.request_id, 'OptimStep')).status).toBe(200);
  });
});

describe('a body over the limit', () => {
  rawTest.override({ options: { maxBodyBytes: 100 } });

  rawTest('gets 413', async ({ server, client }) => {
    const { status } = await client.post('client/config', { sdk_version: 'x'.repeat(200) });
    expect(status).toBe(413);
    expect(brokenRules(server)).toEqual(['body-too-large']);
  });
});

describe('forward_backward', () => {
  rawTest('takes protobuf', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { status, json } = await client.post('forward_backward', exampleFor(modelId), { headers: PROTOBUF });
    expect(status).toBe(200);
    const { headers, bytes } = await client.result(json.request_id, 'ForwardBackward');
    expect(headers['content-type']).toContain('application/x-protobuf');
    expect(bytes.length).toBeGreaterThan(20);
    expect(server.callsTo('forwardBackward')[0]?.request).toMatchObject({ modelId, seqId: 1, lossFn: 'cross_entropy' });
    server.verify();
  });

  rawTest('takes it compressed by zstd', async ({ server, client }) => {
    const { compress } = await loadWasmZstd();
    const modelId = await client.createModel(await client.createSession());
    const body = compress(exampleFor(modelId));
    const { json } = await client.post('forward_backward', body, { headers: { ...PROTOBUF, 'content-encoding': 'zstd' } });
    expect((await client.result(json.request_id, 'ForwardBackward')).status).toBe(200);
    server.verify();
  });

  rawTest('refuses what is not a zstd frame', async ({ server, client }) => {
    const { status } = await client.post('forward_backward', EXAMPLE, { headers: { ...PROTOBUF, 'content-encoding': 'zstd' } });
    expect(status).toBe(400);
    expect(brokenRules(server)).toEqual(['body-malformed']);
  });

  rawTest('refuses other encodings, and other routes refuse zstd', async ({ server, client }) => {
    expect((await client.post('forward_backward', EXAMPLE, { headers: { ...PROTOBUF, 'content-encoding': 'gzip' } })).status).toBe(415);
    expect((await client.post('client/config', {}, { headers: { 'content-encoding': 'zstd' } })).status).toBe(415);
    expect(brokenRules(server)).toEqual(['content-encoding', 'content-encoding']);
  });

  rawTest('refuses a broken message with 400', async ({ server, client }) => {
    expect((await client.post('forward_backward', EXAMPLE.subarray(0, 40), { headers: PROTOBUF })).status).toBe(400);
    expect(brokenRules(server)).toEqual(['body-malformed']);
  });

  rawTest('refuses JSON on the hosted service without blaming the client', async ({ server, client }) => {
    expect((await client.post('forward_backward', { model_id: 'm' })).status).toBe(415);
    server.verify();
  });

  rawTest('needs data, and a seq_id', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const withoutData = Buffer.concat([Buffer.from([0x0a, modelId.length]), Buffer.from(modelId), Buffer.from([0x10, 1])]);
    expect((await client.post('forward_backward', withoutData, { headers: PROTOBUF })).status).toBe(422);
    const whole = exampleFor(modelId);
    const seqAt = 2 + modelId.length;
    const withoutSeqId = Buffer.concat([whole.subarray(0, seqAt), whole.subarray(seqAt + 2)]);
    expect((await client.post('forward_backward', withoutSeqId, { headers: PROTOBUF })).status).toBe(422);
    expect(brokenRules(server)).toEqual(['body-invalid', 'seq-missing']);
  });
});
