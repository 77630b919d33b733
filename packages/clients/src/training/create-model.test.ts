import { subscribe } from '@tinkex/http';
import { describe, expect, it } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import { later, never } from '../../test/support/scripted-transport.js';

describe('models from saved weights', () => {
  const path = 'tinker://R:train:0/weights/ckpt';

  it('asks for the facts, creates the model and loads with number 1', async () => {
    const server = miniServer();
    server.routes.set('weights_info', () => ({ body: { base_model: 'base', is_lora: true, lora_rank: 8, train_mlp: false } }));
    const training = await server.clock.runUntil(
      server.service.createTrainingClientFromStateWithOptimizer(path, { userMetadata: { a: 1 } }),
    );
    expect(server.transport.of('create_model')[0]?.body).toEqual({
      session_id: 'S',
      model_seq_id: 0,
      base_model: 'base',
      user_metadata: { a: 1 },
      lora_config: { rank: 8, train_mlp: false, train_attn: true, train_unembed: true },
      type: 'create_model',
    });
    expect(server.transport.of('load_weights')[0]?.body).toEqual({
      model_id: 'S:train:0',
      seq_id: 1,
      path,
      optimizer: true,
      type: 'load_weights',
    });
    await server.clock.runUntil(training.optimStep());
    expect(server.submittedSeqIds()).toEqual([1, 2]);
    await server.service.close();
  });

  it('creates by one load where the server wants that, and starts counting at 1', async () => {
    const server = miniServer({ create_model_via_load_weights: true });
    const options = { baseModel: 'longer', weightsAccessToken: 'tml-other' };
    const loaded: unknown[] = [];
    const stop = subscribe('tinkex:checkpoint:load', (event) => loaded.push([event.modelId, event.path]));
    const training = await server.clock.runUntil(server.service.createTrainingClientFromState(path, options));
    stop();
    expect(loaded).toEqual([['S:train:0', path]]);
    expect(server.transport.of('load_weights')[0]?.body).toEqual({
      session_id: 'S',
      model_seq_id: 0,
      base_model: 'longer',
      path,
      optimizer: false,
      weights_access_token: 'tml-other',
      type: 'load_weights',
    });
    expect(training.modelId).toBe('S:train:0');
    await server.clock.runUntil(training.optimStep());
    expect(server.transport.of('optim_step')[0]?.body).toMatchObject({ seq_id: 1 });
    await server.service.close();
  });

  it("asks for the facts of another account's weights with its token, and sends the token as given", async () => {
    const server = miniServer();
    server.routes.set('weights_info', () => ({ body: { base_model: 'base', is_lora: true, lora_rank: 8 } }));
    await server.clock.runUntil(server.service.createTrainingClientFromState(path, { weightsAccessToken: 'tml-owner' }));
    expect(server.transport.of('weights_info')[0]?.headers['x-api-key']).toBe('tml-owner');
    expect(server.transport.of('create_model')[0]?.headers['x-api-key']).toBe('any');
    expect(server.transport.of('load_weights')[0]?.body).toMatchObject({ weights_access_token: 'tml-owner' });
    expect(server.transport.of('client/config').map(({ headers }) => headers['x-api-key'])).toEqual(['any', 'tml-owner']);
    expect(server.transport.isClosed).toBe(false);
    await server.service.close();
  });

  it('has one time limit for all of its steps', async () => {
    const server = miniServer();
    const slowly = (body: unknown) => () => later(server.clock, 400, { body });
    server.routes.set('create_session', slowly({ session_id: 'S' }));
    server.routes.set('weights_info', slowly({ base_model: 'base', is_lora: true, lora_rank: 8 }));
    server.routes.set('create_model', slowly({ request_id: 'create' }));
    const begunAtMs = server.clock.elapsedMs;
    const call = server.service.createTrainingClientFromState(path, { timeoutMs: 1_000 });
    await expect(server.clock.runUntil(call)).rejects.toMatchObject({ name: 'TimeoutError', phase: 'total', timeoutMs: 1_000 });
    expect(server.clock.elapsedMs - begunAtMs).toBe(1_000);
    await server.service.close();
  });

  it("can be aborted, and is ended by close(), while it connects as the weights' owner", async () => {
    const server = miniServer();
    await server.training();
    server.routes.set('client/config', never);
    const controller = new AbortController();
    const begin = (options: { signal?: AbortSignal }) =>
      server.service.createTrainingClientFromState(path, { weightsAccessToken: 'tml-owner', ...options }).catch((error: unknown) => error);
    const aborted = begin({ signal: controller.signal });
    const closed = begin({});
    await server.clock.advance(1);
    expect(server.transport.of('client/config')).toHaveLength(3);
    controller.abort('why');
    expect(await aborted).toMatchObject({ name: 'AbortError', cause: 'why' });
    await server.service.close();
    expect(await closed).toMatchObject({ name: 'AbortError', message: 'The client was closed.' });
    expect(server.clock.pending).toBe(0);
  });

  it('numbers models in the order of the calls, from 0', async () => {
    const server = miniServer();
    const models = ['a', 'b', 'c'].map((baseModel) => server.service.createLoraTrainingClient({ baseModel }));
    await server.clock.runUntil(Promise.all(models));
    expect(
      server.transport
        .of('create_model')
        .map(({ body }) => [(body as { base_model: string }).base_model, (body as { model_seq_id: number }).model_seq_id]),
    ).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    await server.service.close();
  });

  it.each([
    [{ baseModel: '' }, 'baseModel'],
    [{ baseModel: 'b', rank: 0 }, 'rank'],
    [{ baseModel: 'b', trainMlp: false, trainAttn: false, trainUnembed: false }, 'trainMlp'],
  ])('refuses %j before it sends anything, and uses no number', async (options, field) => {
    const server = miniServer();
    await expect(server.service.createLoraTrainingClient(options)).rejects.toThrow(field);
    expect(server.transport.seen).toEqual([]);
    await server.training();
    expect(server.transport.of('create_model')[0]?.body).toMatchObject({ model_seq_id: 0 });
    await server.service.close();
  });
});
