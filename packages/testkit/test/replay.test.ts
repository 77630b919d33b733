import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '@tinkex/http';
import { datum, ModelInput } from '@tinkex/types';
import { protobuf } from '@tinkex/types/wire';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryTransport, openReplay, startReplay, startServer, type TestServer, VerificationError } from '../src/index.js';
import { optimBody, type RawAnswer, RawClient, sampleBody } from './raw-client.js';

let dir: string;
let upstream: TestServer;
const clients: RawClient[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'testkit-replay-'));
  upstream = await startServer({ jwt: true, strict: false, ignoreRules: ['jwt-not-used'] });
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await upstream.close();
  await rm(dir, { recursive: true, force: true });
});

function clientOf(url: string): RawClient {
  const client = new RawClient({ url, apiKey: 'tml-secret-of-a-user' });
  clients.push(client);
  return client;
}

/** Trains a step and samples, and returns every answer. */
async function session(client: RawClient): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  const note = async (answer: Promise<RawAnswer>): Promise<RawAnswer> => {
    answers.push(await answer);
    return answer;
  };
  await note(client.post('auth/token', {}));
  const sessionId = await client.createSession();
  const modelId = await client.createModel(sessionId);
  const example = datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } });
  const body = protobuf.forwardBackwardRequest.encode({
    modelId,
    seqId: 1,
    data: [example],
    lossFn: 'cross_entropy',
  });
  const pass = await note(client.call('POST', '/api/v1/forward_backward', { body, headers: { 'content-type': 'application/x-protobuf' } }));
  await note(client.result(pass.json.request_id, 'ForwardBackward'));
  const step = await note(client.post('optim_step', optimBody(modelId, 2)));
  await note(client.result(step.json.request_id, 'OptimStep'));
  const samplerId = await client.createSampler(sessionId);
  const sample = await note(client.sample(sampleBody(samplerId, 0)));
  await note(client.result(sample.json.request_id, 'Sample'));
  await note(client.get('samplers/unknown'));
  return answers;
}

async function files(): Promise<Map<string, string>> {
  const names = await readdir(dir);
  return new Map(await Promise.all(names.sort().map(async (name) => [name, await readFile(join(dir, name), 'latin1')] as const)));
}

describe('a recording', () => {
  it('answers byte for byte without the server that it was made of', async () => {
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    const original = await session(clientOf(recorder.url));
    expect(recorder.recorded).toBeGreaterThan(10);
    await recorder.close();
    await upstream.close();

    await using replay = await startReplay({ dir });
    const [token, ...again] = await session(clientOf(replay.url));
    const shape = ({ status, bytes, headers }: RawAnswer) => [status, headers['content-type'], Buffer.from(bytes).toString('latin1')];
    expect(again.map(shape)).toEqual(original.slice(1).map(shape));
    expect(JSON.parse(Buffer.from(token?.json.jwt.split('.')[1], 'base64url').toString())).toEqual({ exp: 4_102_444_800 });
    expect([replay.misses, replay.recorded]).toEqual([[], 0]);
    replay.verify();
  });

  it('is readable, and has no secret in any byte', async () => {
    await using recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    const [token] = await session(clientOf(recorder.url));
    const recorded = await files();
    const text = [...recorded.values()].join('\n');
    for (const secret of ['tml-secret-of-a-user', token?.json.jwt]) expect(text).not.toContain(secret);
    const [name] = [...recorded.keys()].filter((file) => /-forwardBackward\.json$/.test(file));
    const pass = JSON.parse(recorded.get(name ?? '') ?? '');
    expect(pass.request.body.json.forward_backward_input.data[0].model_input.chunks[0].tokens).toEqual([1, 2, 3]);
    const sample = [...recorded].find(([, content]) => /"x-tinker-request-type": ?"Sample"/.test(content));
    expect(JSON.parse(sample?.[1] ?? '').response.body).toMatchObject({
      json: { sequences: [{ tokens: expect.any(Array) }] },
      file: sample?.[0].replace('.json', '.response.bin'),
    });
  });

  it('keeps the exact text of JSON that another program has written', async () => {
    const text = '{ "supported_models": [ { "model_name": "a/b", "max_context_length": 4096.0 } ] }';
    upstream.on('getServerCapabilities').reply(200, text as never);
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await clientOf(recorder.url).get('get_server_capabilities');
    await recorder.close();
    const replay = await openReplay({ dir });
    const response = await replay.handle(new Request(`${replay.url}/api/v1/get_server_capabilities`));
    expect(await response.text()).toBe(text);
  });

  it('gives the n-th answer to the n-th equal request, then the last again', async () => {
    for (const retryAfterMs of [1, 2]) upstream.on('healthz').reply(429, { retryAfterMs }).once();
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    const client = clientOf(recorder.url);
    for (let call = 0; call < 3; call++) await client.get('healthz');
    await recorder.close();
    const replay = await openReplay({ dir });
    const seen = [];
    for (let call = 0; call < 4; call++) {
      const { status, headers } = await replay.handle(new Request(`${replay.url}/api/v1/healthz`));
      seen.push([status, headers.get('retry-after-ms')]);
    }
    expect(seen).toEqual([
      [429, '1'],
      [429, '2'],
      [200, null],
      [200, null],
    ]);
  });

  it('can be replayed in memory, by a client of this repository', async () => {
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await clientOf(recorder.url).get('get_server_capabilities');
    await recorder.close();
    const replay = await openReplay({ dir });
    const client = new HttpClient({ baseUrl: replay.url, transport: memoryTransport(replay) });
    const text = await client.request({
      method: 'GET',
      path: '/api/v1/get_server_capabilities',
      parse: ({ bytes }) => Buffer.from(bytes).toString(),
    });
    expect(text).toContain('tinkex/tiny');
    await client.close();
  });
});

describe('drift', () => {
  it('is reported for unknown endpoints, unknown fields and wrong values, each once', async () => {
    upstream.on('getServerCapabilities').reply(
      200,
      JSON.stringify({
        supported_models: [
          { model_name: 'a/b', brand_new: 1 },
          { model_name: 'c', brand_new: 2 },
        ],
      }) as never,
    );
    upstream.on('createSession').reply(200, JSON.stringify({ session_id: 7 }) as never);
    const reported: string[] = [];
    await using recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url, onDrift: (text) => reported.push(text) });
    const client = clientOf(recorder.url);
    for (let call = 0; call < 2; call++) await client.get('get_server_capabilities');
    await client.get('not_an_endpoint');
    await client.post('create_session', { tags: [], user_metadata: {}, sdk_version: '9', newer: 1 });
    expect(reported).toEqual(recorder.drift);
    expect(reported).toEqual([
      'getServerCapabilities, answer: supportedModels[].brand_new is not a known field',
      'GET /api/v1/not_an_endpoint is not an endpoint that this version knows',
      expect.stringMatching(/^createSession, request: newer is not a known field/),
      expect.stringMatching(/^createSession, answer: session_id /),
    ]);
    expect(JSON.parse((await files()).get('0001-getServerCapabilities.json') ?? '').drift).toEqual([reported[0]]);
  });

  it('has nothing to say about this repository itself', async () => {
    await using recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await session(clientOf(recorder.url));
    expect(recorder.drift).toEqual([]);
  });
});

describe('a request that was not recorded', () => {
  it('is refused, explained and reported by verify', async () => {
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    const recording = clientOf(recorder.url);
    const samplerId = await recording.createSampler(await recording.createSession());
    await recording.sample(sampleBody(samplerId, 0));
    await recorder.close();
    await using replay = await startReplay({ dir });
    const client = clientOf(replay.url);
    const other = await client.sample(sampleBody(samplerId, 1));
    expect([other.status, other.json.detail]).toEqual([400, expect.stringContaining('1 to this path, with other bodies')]);
    expect((await client.get('sessions')).json.detail).toContain('no request to this path');
    expect(replay.misses).toHaveLength(2);
    expect(() => replay.verify()).toThrow(VerificationError);
  });

  it('is recorded on a miss', async () => {
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await clientOf(recorder.url).get('healthz');
    await recorder.close();
    const filler = await startReplay({ dir, mode: 'record-on-miss', upstream: upstream.url });
    await clientOf(filler.url).get('healthz');
    await clientOf(filler.url).get('get_server_capabilities');
    expect([filler.replayed, filler.recorded]).toEqual([1, 1]);
    await filler.close();
    expect([...(await files()).keys()]).toEqual(['0001-healthz.json', '0002-getServerCapabilities.json']);
  });
});

describe('what cannot work', () => {
  it('is refused at the start, with the cure', async () => {
    await expect(openReplay({ dir })).rejects.toThrow(/no recording in .*Record one first/);
    await expect(openReplay({ dir, mode: 'record' })).rejects.toThrow('needs an upstream');
    await expect(openReplay({ dir, mode: 'record', upstream: 'ftp://x' })).rejects.toThrow('must be an HTTP URL');
    await expect(openReplay({ dir, upstream: upstream.url })).rejects.toThrow('record-on-miss');
    await writeFile(
      join(dir, '0001-healthz.json'),
      '{"request":{"method":"GET","target":"/"},"response":{"status":200,"body":{"file":"../x"}}}',
    );
    await expect(openReplay({ dir })).rejects.toThrow('is not a recorded exchange');
    await writeFile(join(dir, '0001-healthz.json'), '{"request":{"method":"GET","target":"/"},"response":{"status":200}}');
    await expect(openReplay({ dir, mode: 'record', upstream: upstream.url })).rejects.toThrow('already has a recording');
  });

  it('is a 502 that is not recorded when the upstream is gone', async () => {
    await using recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await upstream.close();
    const { status, json } = await clientOf(recorder.url).get('healthz');
    expect([status, json.detail]).toEqual([502, expect.stringContaining('The upstream did not answer')]);
    expect((await files()).size).toBe(0);
  });

  it('lets the upstream go when the client hangs up', async () => {
    const gate = upstream.gate('healthz');
    await using recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    const stop = new AbortController();
    const call = clientOf(recorder.url).get('healthz', { signal: stop.signal });
    await gate.waitFor(1);
    stop.abort();
    await expect(call).rejects.toThrow();
    while (gate.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.inFlight('healthz')).toBe(0);
  });
});

describe('a replay', () => {
  it('answers whatever it is sent', { timeout: 600_000 }, async () => {
    const recorder = await startReplay({ dir, mode: 'record', upstream: upstream.url });
    await session(clientOf(recorder.url));
    await recorder.close();
    const replay = await openReplay({ dir });
    const recorded = [...(await files())].flatMap(([name, text]) => (name.endsWith('.json') ? [JSON.parse(text).request.target] : []));
    const target = fc.oneof(
      fc.constantFrom(...(recorded as string[])),
      fc.constantFrom('/api/v1/%', '/api/v1/samplers/%00', '//', '/api/v1/asample?a=1&a=2', '/../etc/passwd', '/api/v1/__proto__'),
      fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `/api/v1/${encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))}`),
    );
    const headers = fc.record(
      {
        'content-type': fc.constantFrom('application/json', 'application/x-protobuf', '', 'x'),
        'content-encoding': fc.constantFrom('zstd', 'gzip', 'x'),
        'x-idempotency-key': fc.string({ maxLength: 5 }),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.jsonValue().map((value) => new TextEncoder().encode(JSON.stringify(value))),
      fc.constant(Uint8Array.of(10, 1, 109, 16, 1, 34, 13, 99)),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH');
    await fc.assert(
      fc.asyncProperty(method, target, headers, body, async (ofMethod, ofTarget, ofHeaders, ofBody) => {
        const { status } = await replay.answer({ method: ofMethod, target: ofTarget, headers: ofHeaders, body: ofBody });
        expect([200, 202, 400, 404, 408]).toContain(status);
      }),
      { numRuns: Number(process.env['TINKEX_FUZZ_RUNS'] ?? 300) },
    );
    expect(replay.misses.length).toBeLessThanOrEqual(1_000);
    expect(() => replay.verify()).toThrow(VerificationError);
    await replay.close();
  });
});
