import { ByteTokenizer, type Tokenizer } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { miniServer } from '../../test/support/mini-server.js';
import { later } from '../../test/support/scripted-transport.js';

/** A server, and a loader that has been called when `isLoading` resolves and answers on request. */
async function setUp() {
  const tokenizer = new ByteTokenizer();
  let begin = (): void => undefined;
  let finish: (tokenizer: Tokenizer) => void = () => undefined;
  const isLoading = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const loaded = new Promise<Tokenizer>((resolve) => {
    finish = resolve;
  });
  const load = () => {
    begin();
    return loaded;
  };
  const server = miniServer({}, { tokenizer: { load } });
  const info = { model_id: 'S:train:0', model_data: { model_name: 'base' } };
  server.routes.set('get_info', () => later(server.clock, 600, { body: info }));
  server.routes.set('create_sampling_session', () => ({ body: { sampling_session_id: 'sampler' } }));
  server.routes.set('samplers/sampler', () => later(server.clock, 600, { body: { sampler_id: 'sampler', base_model: 'base' } }));
  const training = await server.training();
  const sampling = await server.clock.runUntil(training.createSamplingClient('tinker://S:train:0/sampler_weights/a'));
  return { server, training, sampling, isLoading, tokenizer, finish: () => finish(tokenizer) };
}

describe.each(['training', 'sampling'] as const)('getTokenizer of a %s client', (which) => {
  it('can be given up while it loads; the load continues for others', async () => {
    const rig = await setUp();
    const controller = new AbortController();
    const given = rig[which].getTokenizer({ signal: controller.signal }).catch((error: unknown) => error);
    const other = rig[which].getTokenizer();
    await rig.server.clock.runUntil(rig.isLoading);
    controller.abort('why');
    expect(await given).toMatchObject({ name: 'AbortError', cause: 'why' });
    rig.finish();
    expect(await rig.server.clock.runUntil(other)).toBe(rig.tokenizer);
    await rig.server.service.close();
  });

  it('has one time limit for the question and the load', async () => {
    const { server, ...clients } = await setUp();
    const begunAtMs = server.clock.elapsedMs;
    await expect(server.clock.runUntil(clients[which].getTokenizer({ timeoutMs: 1_000 }))).rejects.toMatchObject({
      name: 'TimeoutError',
      timeoutMs: 1_000,
    });
    expect(server.clock.elapsedMs - begunAtMs).toBe(1_000);
    await server.service.close();
  });

  it('ends with its client', async () => {
    const { server, isLoading, ...clients } = await setUp();
    const loading = clients[which].getTokenizer().catch((error: unknown) => error);
    await server.clock.runUntil(isLoading);
    await server.service.close();
    expect(await loading).toMatchObject({ name: 'AbortError' });
  });
});

describe('getBaseModel', () => {
  it('is asked once, and one caller giving up does not end it for the others', async () => {
    const { server, sampling } = await setUp();
    const controller = new AbortController();
    const impatient = sampling.getBaseModel({ signal: controller.signal }).catch((error: unknown) => error);
    const patient = sampling.getBaseModel();
    controller.abort();
    expect(await impatient).toMatchObject({ name: 'AbortError' });
    expect(await server.clock.runUntil(patient)).toBe('base');
    expect(server.transport.of('samplers/sampler')).toHaveLength(1);
    await server.service.close();
  });

  it('is not asked for a call that is over before it begins', async () => {
    const { server, sampling } = await setUp();
    await expect(sampling.getBaseModel({ signal: AbortSignal.abort('why') })).rejects.toMatchObject({ name: 'AbortError', cause: 'why' });
    await server.clock.advance(1);
    expect(server.transport.of('samplers/sampler')).toEqual([]);
    await server.service.close();
  });
});
