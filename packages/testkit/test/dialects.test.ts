import { endpoints } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { DIALECTS, type DialectName, startServer, type TestServer, type TestServerOptions } from '../src/index.js';
import { forwardBackwardBody, optimBody, RawClient, sampleBody } from './raw-client.js';

async function withDialect(
  dialect: DialectName,
  test: (client: RawClient, server: TestServer) => Promise<void>,
  options: TestServerOptions = {},
): Promise<void> {
  const server = await startServer({ engine: 'canned', dialect, ...options });
  const client = new RawClient(server);
  try {
    await test(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}

const jsonDialects = (Object.keys(DIALECTS) as DialectName[]).filter((name) =>
  DIALECTS[name].requestFormats.some((format) => format === 'json'),
);

describe('every dialect that takes JSON', () => {
  it.for(jsonDialects)('%s trains and samples', (name) =>
    withDialect(name, async (client, server) => {
      const sessionId = await client.createSession();
      const modelId = await client.createModel(sessionId);
      const submitted = await client.post('forward_backward', forwardBackwardBody(modelId, 1));
      expect(submitted.status).toBe(DIALECTS[name].submitStatus);
      await client.post('optim_step', optimBody(modelId, 2));
      const json = { headers: { accept: 'application/json' } };
      let output = await client.poll(submitted.json.request_id, 'ForwardBackward', 0, json);
      for (let iteration = 1; output.status === 408 || output.json?.type === 'try_again'; iteration++) {
        output = await client.poll(submitted.json.request_id, 'ForwardBackward', iteration, json);
      }
      expect(output.json.loss_fn_outputs[0].logprobs).toMatchObject({ dtype: 'float32', shape: [3], data: [-0.5, -0.5, -0.5] });
      const samplerId = await client.createSampler(sessionId);
      const sampled = await client.sample(sampleBody(samplerId, 0, { prompt_logprobs: true }));
      let sample = await client.poll(sampled.json.request_id, 'Sample', 0, json);
      for (let iteration = 1; sample.status === 408 || sample.json?.type === 'try_again'; iteration++) {
        sample = await client.poll(sampled.json.request_id, 'Sample', iteration, json);
      }
      expect(sample.json.sequences[0]).toMatchObject({ stop_reason: 'length', tokens: [1, 2, 3, 4] });
      expect(sample.json.prompt_logprobs).toEqual(DIALECTS[name].promptLogprobs === 'full' ? [null, -0.5, -0.5] : [-0.5, -0.5]);
      const metrics = { reduced: ['loss:sum', 'loss:mean'], plain: ['loss'], none: [] }[DIALECTS[name].metrics];
      expect(Object.keys(output.json.metrics)).toEqual(metrics);
      server.verify();
    }),
  );

  it.for(jsonDialects)('%s lacks the routes it lacks', (name) =>
    withDialect(name, async (client) => {
      for (const route of DIALECTS[name].missingRoutes) {
        const { method, path } = endpoints[route as keyof typeof endpoints];
        const { status } = await client.call(method, path.replace(/\{\w+\}/g, 'x'), method === 'GET' ? {} : { body: {} });
        expect(status, route).toBe(DIALECTS[name].missingStatus);
      }
    }),
  );
});

describe('dialects differ as the pages say', () => {
  it('a JSON server refuses protobuf with 400, 415 or 422', async () => {
    for (const [name, status] of [
      ['json', 415],
      ['skyrl', 422],
      ['tuft', 400],
    ] as const) {
      await withDialect(name, async (client, server) => {
        const answer = await client.post('forward_backward', Uint8Array.of(1), { headers: { 'content-type': 'application/x-protobuf' } });
        expect(answer.status).toBe(status);
        server.verify();
      });
    }
  });

  it('forward is a route of JSON servers only', async () => {
    const body = { model_id: 'x', seq_id: 1, type: 'forward', forward_input: forwardBackwardBody('x', 1)['forward_backward_input'] };
    await withDialect('hosted', async (client) => expect((await client.post('forward', body)).status).toBe(404));
    await withDialect('json', async (client, server) => {
      const modelId = await client.createModel(await client.createSession());
      const { json } = await client.post('forward', { ...body, model_id: modelId });
      expect((await client.result(json.request_id, 'Forward')).json.loss_fn_outputs).toHaveLength(1);
      server.verify();
    });
  });

  it('ids are of the form S:train:0, UUIDs or numbers', async () => {
    const forms = { json: /^sess-\w+:train:0$/, tuft: /^[0-9a-f]{8}-[0-9a-f]{4}-5/, skyrl: /^\d+$/ };
    for (const [name, form] of Object.entries(forms)) {
      await withDialect(name as DialectName, async (client) => {
        expect(await client.createModel(await client.createSession())).toMatch(form);
      });
    }
  });

  it('pending is a 408 with a body, a blank one, or a 200', async () => {
    const pendings = { json: [408, 'try_again'], 'open-rl': [408, undefined], hatchery: [200, 'try_again'] } as const;
    for (const [name, [status, type]] of Object.entries(pendings)) {
      await withDialect(
        name as DialectName,
        async (client, server) => {
          server.gate('asample', { at: 'execution' });
          const samplerId = await client.createSampler(await client.createSession());
          const { json } = await client.sample(sampleBody(samplerId, 0));
          const answer = await client.poll(json.request_id, 'Sample', 0, { headers: { accept: 'application/json' } });
          expect([answer.status, answer.json?.type]).toEqual([status, type]);
        },
        { longPollMs: 0 },
      );
    }
  });

  it('failures have four shapes and as many categories', async () => {
    const shapes: Partial<Record<DialectName, unknown>> = {
      json: [200, { error: 'no', category: 'user' }],
      tuft: [200, { type: 'request_failed', error: 'no', category: 'user_error' }],
      twinkle: [200, { error: 'no', category: 'USER' }],
      hatchery: [200, { error: 'no' }],
      skyrl: [400, { detail: 'no' }],
      'open-rl': [400, { error_message: 'no' }],
    };
    for (const [name, shape] of Object.entries(shapes)) {
      await withDialect(name as DialectName, async (client, server) => {
        server.on('asample').fail({ error: 'no', category: 'user' });
        const samplerId = await client.createSampler(await client.createSession());
        const { json } = await client.sample(sampleBody(samplerId, 0));
        const answer = await client.result(json.request_id, 'Sample');
        expect([answer.status, answer.json]).toEqual(shape);
      });
    }
  });

  it('configuration is missing, partial, or has unknown flags', async () => {
    await withDialect('skyrl', async (client) => expect((await client.post('client/config', { sdk_version: '0.25.0' })).status).toBe(404));
    await withDialect('tuft', async (client) => {
      expect((await client.post('client/config', { sdk_version: '0.25.0' })).json).toMatchObject({ parallel_fwdbwd_chunks: false });
      expect((await client.post('client/dynamic_config', { sdk_version: '0.25.0' })).status).toBe(405);
    });
    await withDialect('hatchery', async (client) => {
      expect((await client.post('client/config', { sdk_version: '0.25.0' })).json).toMatchObject({ some_future_flag: 'on' });
      expect((await client.post('client/config', { sdk_version: '0.0.1' })).status).toBe(400);
    });
  });

  it('keys are of one prefix, of any, or none', async () => {
    await withDialect('skyrl', async (client) =>
      expect((await client.get('get_server_capabilities', { apiKey: 'anything' })).status).toBe(200),
    );
    await withDialect('open-rl', async (client, server) => {
      const { status, json } = await client.get('get_server_capabilities', { headers: { 'x-api-key': undefined } });
      expect([status, json]).toEqual([200, { supported_models: [{ model_id: 'tinkex/tiny' }] }]);
      server.verify();
    });
  });

  it('checkpoints have bare ids, paths without a segment, strict names, a conflict for a taken one, JSON links', async () => {
    await withDialect('open-rl', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      const { json } = await client.post('save_weights_for_sampler', {
        model_id: modelId,
        path: 'a',
        seq_id: 1,
        type: 'save_weights_for_sampler',
      });
      expect((await client.result(json.request_id, 'SaveWeightsForSampler')).json.path).toBe(`tinker://${modelId}/a`);
    });
    await withDialect('tuft', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      const body = { model_id: modelId, path: 'a.b', seq_id: 1, overwrite: false, type: 'save_weights' };
      expect((await client.post('save_weights', body)).status).toBe(400);
      const { json } = await client.post('save_weights', { ...body, path: 'ab', seq_id: 2 });
      await client.result(json.request_id, 'SaveWeights');
      const archive = await client.get(`training_runs/${modelId}/checkpoints/weights/ab/archive`);
      expect([archive.status, Object.keys(archive.json)]).toEqual([200, ['url', 'expires']]);
    });
    await withDialect('skyrl', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      const body = { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' };
      const { json } = await client.post('save_weights', body);
      await client.result(json.request_id, 'SaveWeights');
      expect((await client.post('save_weights', { ...body, seq_id: 2 })).status).toBe(409);
      const [checkpoint] = (await client.get('checkpoints')).json.checkpoints;
      expect(checkpoint.time).not.toMatch(/Z$/);
    });
  });

  it('newer servers name the sequences', async () => {
    await withDialect('hatchery', async (client) => {
      const samplerId = await client.createSampler(await client.createSession());
      const { json } = await client.sample(sampleBody(samplerId, 0, { num_samples: 2 }));
      expect(json.sample_sequence_ids).toHaveLength(2);
      const answer = await client.poll(json.request_id, 'Sample', 0, { headers: { accept: 'application/json' } });
      expect(answer.json.sequences[1].sequence_id).toBe(json.sample_sequence_ids[1]);
    });
  });

  it('results come in the format the poll accepts', async () => {
    await withDialect('both', async (client) => {
      const samplerId = await client.createSampler(await client.createSession());
      const { json } = await client.sample(sampleBody(samplerId, 0));
      const types = [];
      for (const accept of ['application/x-protobuf', 'application/json', 'application/x-protobuf, application/json']) {
        types.push((await client.poll(json.request_id, 'Sample', 0, { headers: { accept } })).headers['content-type']);
      }
      expect(types).toEqual(['application/x-protobuf', 'application/json', 'application/x-protobuf']);
    });
  });

  it('there is no other', async () => {
    await expect(startServer({ dialect: 'klingon' as DialectName })).rejects.toThrow(/no dialect "klingon"; choose one of hosted/);
  });
});
