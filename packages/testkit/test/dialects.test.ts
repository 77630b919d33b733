import { endpoints } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect, type DialectName, startServer, type TestServer, type TestServerOptions } from '../src/index.js';
import { forwardBackwardBody, optimBody, RawClient, sampleBody } from './raw-client.js';

async function withDialect(
  dialect: DialectName | Dialect,
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

const stateSave = (modelId: string, seqId: number) => ({
  model_id: modelId,
  path: 'a',
  seq_id: seqId,
  overwrite: false,
  type: 'save_weights',
});
const samplerSave = (modelId: string, seqId: number) => ({ model_id: modelId, path: 'a', seq_id: seqId, type: 'save_weights_for_sampler' });

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
      const promptLogprobs = { full: [null, -0.5, -0.5], shifted: [-0.5, -0.5], none: undefined }[DIALECTS[name].promptLogprobs];
      expect(sample.json.prompt_logprobs).toEqual(promptLogprobs);
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
  it('a JSON server refuses protobuf with 400, 415, 422, or fails on it', async () => {
    for (const [dialect, status] of [
      [{ ...DIALECTS.json, refusedFormatStatus: 400 }, 400],
      ['json', 415],
      ['twinkle', 422],
      ['skyrl-tx', 500],
      ['open-rl', 500],
    ] as const) {
      await withDialect(dialect, async (client, server) => {
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
    const tagged: Dialect = { ...DIALECTS.json, failure: 'request-failed', failureCategory: 'suffixed' };
    const shapes: readonly (readonly [DialectName | Dialect, number, unknown])[] = [
      ['json', 200, { error: 'no', category: 'user' }],
      [tagged, 200, { type: 'request_failed', error: 'no', category: 'user_error' }],
      ['twinkle', 200, { error: 'no', category: 'USER' }],
      ['hatchery', 200, { error: 'no' }],
      ['skyrl', 400, { detail: 'no' }],
      ['tuft', 422, { detail: 'no' }],
      ['open-rl', 400, { error_message: 'no' }],
    ];
    for (const [dialect, ...shape] of shapes) {
      await withDialect(dialect, async (client, server) => {
        server.on('asample').fail({ error: 'no', category: 'user' });
        const samplerId = await client.createSampler(await client.createSession());
        const { json } = await client.sample(sampleBody(samplerId, 0));
        const answer = await client.result(json.request_id, 'Sample');
        expect([answer.status, answer.json]).toEqual(shape);
      });
    }
  });

  it('configuration is missing, partial, or has unknown flags', async () => {
    await withDialect('skyrl-tx', async (client) =>
      expect((await client.post('client/config', { sdk_version: '0.25.0' })).status).toBe(404),
    );
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

  it('sampler checkpoints have paths without a segment, and bare ids', async () => {
    await withDialect('open-rl', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      const { json } = await client.post('save_weights_for_sampler', samplerSave(modelId, 1));
      expect((await client.result(json.request_id, 'SaveWeightsForSampler')).json.path).toBe(`tinker://${modelId}/a`);
    });
    await withDialect('skyrl-tx', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      const { json } = await client.post('save_weights_for_sampler', samplerSave(modelId, 1));
      await client.result(json.request_id, 'SaveWeightsForSampler');
      const [checkpoint] = (await client.get(`training_runs/${modelId}/checkpoints`)).json.checkpoints;
      expect(checkpoint).toMatchObject({ checkpoint_id: 'a', tinker_path: `tinker://${modelId}/a` });
      expect(checkpoint.time).not.toMatch(/Z$/);
      expect((await client.get(`training_runs/${modelId}/checkpoints/sampler_weights/a/archive`)).status).toBe(404);
      expect((await client.get(`training_runs/${modelId}/checkpoints/a/archive`)).status).toBe(302);
    });
  });

  it.each([
    ['skyrl', 409, 200],
    ['skyrl-tx', 500, 500],
  ] as const)('names are restricted on %s, and a taken one is refused with %d', async (dialect, clash, overwritten) => {
    await withDialect(dialect, async (client) => {
      const modelId = await client.createModel(await client.createSession());
      expect((await client.post('save_weights', { ...stateSave(modelId, 1), path: 'a.b' })).status).toBe(400);
      for (const [route, body] of [
        ['save_weights', stateSave(modelId, 2)],
        ['save_weights_for_sampler', samplerSave(modelId, 4)],
      ] as const) {
        const { json } = await client.post(route, body);
        await client.result(json.request_id, route);
        expect((await client.post(route, { ...body, seq_id: body.seq_id + 1 })).status).toBe(clash);
        expect((await client.post(route, body)).json.request_id, 'a repeat').toBe(json.request_id);
      }
      const replaced = await client.post('save_weights', { ...stateSave(modelId, 6), overwrite: true });
      expect(replaced.status).toBe(overwritten);
    });
  });

  it('a name that is taken is used again on tuft', async () => {
    await withDialect('tuft', async (client) => {
      const modelId = await client.createModel(await client.createSession());
      for (const seqId of [1, 2]) {
        const { json } = await client.post('save_weights', { ...stateSave(modelId, seqId), path: 'a.b' });
        expect((await client.result(json.request_id, 'SaveWeights')).json.path).toBe(`tinker://${modelId}/weights/a.b`);
      }
    });
  });

  it('an archive is a redirect, a JSON answer or a place on the disk', async () => {
    for (const [dialect, expected] of [
      ['skyrl', [302, 'http:']],
      ['tuft', [302, 'file:']],
      [{ ...DIALECTS.json, archive: 'json' }, [200, 'http:']],
    ] as const) {
      await withDialect(dialect, async (client) => {
        const modelId = await client.createModel(await client.createSession());
        const { json } = await client.post('save_weights', stateSave(modelId, 1));
        await client.result(json.request_id, 'SaveWeights');
        const id = dialect === 'skyrl' ? 'a' : 'weights/a';
        const answer = await client.get(`training_runs/${modelId}/checkpoints/${id}/archive`);
        expect([answer.status, new URL(answer.headers['location'] ?? answer.json.url).protocol]).toEqual(expected);
      });
    }
  });

  it('a server without gaps fails every operation behind a refused one, and continues after a failed one', async () => {
    await withDialect('tuft', async (client, server) => {
      const modelId = await client.createModel(await client.createSession());
      const step = async (seqId: number) => {
        const { json } = await client.post('optim_step', optimBody(modelId, seqId));
        return client.result(json.request_id, 'OptimStep');
      };
      server.on('optimStep').fail({ error: 'no', category: 'user' }).once();
      expect((await step(1)).status).toBe(422);
      expect((await step(2)).status).toBe(200);
      server.on('optimStep').reply(422, { detail: 'no' }).once();
      expect((await client.post('optim_step', optimBody(modelId, 3))).status).toBe(422);
      for (const seqId of [4, 5]) {
        expect((await step(seqId)).json.detail).toBe(`Sequence conflict: expected 3, got ${seqId}.`);
      }
    });
  });

  it('a sample needs a limit, and stops in a list', async () => {
    const sampleWith = async (client: RawClient, params: object) => {
      const samplerId = await client.createSampler(await client.createSession());
      return client.sample(sampleBody(samplerId, 0, { sampling_params: params }));
    };
    await withDialect('skyrl-tx', async (client) => {
      expect((await sampleWith(client, { temperature: 1 })).status).toBe(400);
      expect((await sampleWith(client, { max_tokens: 4, stop: 'a' })).status).toBe(422);
      expect((await sampleWith(client, { max_tokens: 4, stop: ['a'] })).status).toBe(200);
    });
    const stopped: unknown[] = [];
    for (const dialect of ['json', 'open-rl'] as const) {
      await withDialect(
        dialect,
        async (client) => {
          const { json } = await sampleWith(client, { max_tokens: 4, temperature: 0, stop: Array.from({ length: 256 }, (_, id) => id) });
          const answer = await client.result(json.request_id, 'Sample');
          stopped.push(answer.json.sequences[0].stop_reason);
        },
        { engine: 'learn' },
      );
    }
    expect(stopped).toEqual(['stop', 'length']);
  });

  it('weights are loaded into any model, or only into a new one', async () => {
    for (const [dialect, statuses] of [
      ['json', [200, 200]],
      ['skyrl', [200, 400]],
    ] as const) {
      await withDialect(dialect, async (client) => {
        const sessionId = await client.createSession();
        const saved = await client.createModel(sessionId);
        const { json } = await client.post('save_weights', stateSave(saved, 1));
        const { path } = (await client.result(json.request_id, 'SaveWeights')).json;
        const modelId = await client.createModel(sessionId, 1);
        const seen: number[] = [];
        for (const seqId of [1, 2]) {
          const body = { model_id: modelId, path, seq_id: seqId, optimizer: true, type: 'load_weights' };
          const load = await client.post('load_weights', body);
          seen.push((await client.result(load.json.request_id, 'LoadWeights')).status);
        }
        expect(seen).toEqual(statuses);
      });
    }
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
