import { nn, numpy as np } from '@jax-js/jax';
import { startServer, type TestServer, type TestServerOptions } from '@tinkex/testkit';
import { traceLoss } from '@tinkex/types/custom-loss';
import { describe, expect, it } from 'vitest';
import { autodiff, type JaxLossFunction, jaxLoss } from '../src/autodiff/index.js';
import {
  type Datum,
  datum,
  type LossFunction,
  type LossHandle,
  ModelInput,
  ServiceClient,
  TensorData,
  type TrainingClient,
  ValidationError,
} from '../src/index.js';
import { liveJaxBuffers } from './support/live-jax-buffers.js';

const data = [
  datum({
    modelInput: ModelInput.fromInts([1, 2, 3]),
    lossFnInputs: { targetTokens: [2, 3, 4], advantages: [1, -0.5, 2], old: TensorData.fromArray(Float32Array.of(-5, -6, -5)) },
  }),
  datum({
    modelInput: ModelInput.fromInts([5, 6]),
    lossFnInputs: { targetTokens: [6, 7], advantages: [-1, 1.5], old: TensorData.fromArray(Float32Array.of(-5.5, -5)) },
  }),
];

/** Clipped policy gradient with a penalty, and a metric of each kind. */
const clipped: LossFunction<{ advantages: 1; old: 1 }> = (logprobs, { advantages, old }) => {
  const ratio = logprobs.sub(old).exp();
  const gain = ratio.mul(advantages).minimum(ratio.clamp({ min: 0.8, max: 1.2 }).mul(advantages));
  const penalty = logprobs.detach().sub(old).mul(logprobs).sigmoid().mean();
  const isOut = ratio.gt(1.2).or(ratio.lt(0.8));
  return {
    loss: gain.sum().neg().add(penalty.mul(0.1)),
    metrics: { 'custom/ratio:mean': ratio.mean(), 'custom/clipped:sum': isOut.float().sum() },
  };
};
const INPUTS = { advantages: 1, old: 1 } as const;

async function withTraining<T>(
  options: TestServerOptions,
  use: (parts: { server: TestServer; service: ServiceClient; training: TrainingClient }) => Promise<T>,
): Promise<T> {
  await using server = await startServer(options);
  await using service = new ServiceClient(server.clientOptions);
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 3 });
  const result = await use({ server, service, training });
  server.verify();
  return result;
}

/** The server's own logprobs after some steps: equal when the weights are. */
const scores = async (training: TrainingClient) =>
  (
    await training.forward(
      data.map(({ modelInput, lossFnInputs: { targetTokens } }) => ({ modelInput, lossFnInputs: { targetTokens } })),
      'cross_entropy',
    )
  ).lossFnOutputs.flatMap(({ logprobs }) => [...(logprobs?.toArray() ?? [])] as number[]);

async function train(isOnServer: boolean, options: TestServerOptions = {}) {
  return withTraining(
    { ...options, config: { customLossServerSide: isOnServer, fwdbwdMaxChunkLen: 1 } },
    async ({ server, service, training }) => {
      const handle = await service.createCustomLoss(clipped, { name: 'clipped', inputs: INPUTS });
      expect(handle).toMatchObject({ name: 'clipped', sessionId: await service.sessionId() });
      expect(handle.lossId === undefined).toBe(!isOnServer);
      const steps: { loss: number; ratio: number; clipped: number }[] = [];
      for (let step = 0; step < 5; step += 1) {
        const pass = training.forwardBackwardCustom(data, handle);
        await training.optimStep({ learningRate: 0.02 });
        const { loss, metrics } = await pass;
        expect(metrics['loss:sum']).toBe(loss);
        steps.push({ loss, ratio: metrics['custom/ratio:mean'] as number, clipped: metrics['custom/clipped:sum'] as number });
      }
      const count = (...names: string[]) => server.calls.filter(({ route = '', status }) => status === 200 && names.includes(route)).length;
      const [passes, uploads] = [count('forwardBackward', 'forward'), count('createCustomLoss')];
      return { steps, scores: await scores(training), passes, uploads };
    },
  );
}

describe('a created loss', () => {
  it.each<[string, TestServerOptions]>([
    ['protobuf', {}],
    ['JSON', { dialect: 'json' }],
  ])('gives the same losses, metrics and weights on the server and here (%s)', async (_, options) => {
    const [there, here] = await Promise.all([train(true, options), train(false, options)]);
    there.steps.forEach((step, index) => {
      expect(step.loss).toBeCloseTo(here.steps[index]?.loss as number, 6);
      expect(step.ratio).toBeCloseTo(here.steps[index]?.ratio as number, 6);
      expect(step.clipped).toBe(here.steps[index]?.clipped);
    });
    expect(there.steps[4]?.loss).toBeLessThan((there.steps[0]?.loss as number) - 0.1);
    for (const [index, score] of there.scores.entries()) expect(Math.abs(score - (here.scores[index] as number))).toBeLessThanOrEqual(1e-6);
    // Two chunks for each pass: one pass on the server, a forward and a backward pass here.
    expect(there).toMatchObject({ passes: 2 * 5, uploads: 1 });
    expect(here).toMatchObject({ passes: 4 * 5, uploads: 0 });
  });

  it('sends the loss by its ID, with the data unchanged', () =>
    withTraining({ config: { customLossServerSide: true } }, async ({ server, service, training }) => {
      const handle = await service.createCustomLoss(clipped, { inputs: INPUTS });
      await training.forwardBackwardCustom(data, handle);
      const { request } = server.calls.find(({ route }) => route === 'forwardBackward') as unknown as {
        request: { lossFn: string; lossFnConfig: object; data: typeof data };
      };
      expect(request).toMatchObject({ lossFn: 'custom', lossFnConfig: { loss_id: handle.lossId } });
      expect(Object.keys(request.data[0]?.lossFnInputs ?? {}).sort()).toEqual(['advantages', 'old', 'targetTokens']);
    }));

  it.each([true, false])('is created once per session, however it is called (on the server: %s)', (customLossServerSide) =>
    withTraining({ config: { customLossServerSide } }, async ({ service }) => {
      await service.createCustomLoss(clipped, { inputs: INPUTS, name: 'first' });
      const again = service.createCustomLoss(clipped, { inputs: INPUTS, name: 'second' });
      await expect(again).rejects.toThrow("'second' computes the same as 'first'");
      await expect(again).rejects.toThrow(ValidationError);
      await service.createCustomLoss((logprobs) => ({ loss: logprobs.sum() }));
    }),
  );

  it('may be created again when its creation failed', () =>
    withTraining({ config: { customLossServerSide: true } }, async ({ server, service }) => {
      server.on('createCustomLoss').fail({ error: 'full', category: 'server' }).once();
      await expect(service.createCustomLoss(clipped, { inputs: INPUTS })).rejects.toThrow('full');
      expect((await service.createCustomLoss(clipped, { inputs: INPUTS })).lossId).toMatch(/:loss:1$/);
    }));

  it('works only in its session', () =>
    withTraining({ config: { customLossServerSide: true } }, async ({ server, training }) => {
      await using other = new ServiceClient(server.clientOptions);
      const handle = await other.createCustomLoss(clipped, { inputs: INPUTS });
      const before = server.calls.length;
      await expect(training.forwardBackwardCustom(data, handle)).rejects.toThrow(`was created in session ${handle.sessionId}`);
      expect(server.calls.filter(({ route }) => route === 'forwardBackward')).toEqual([]);
      expect(server.calls.length).toBe(before);
    }));

  it.each([true, false])('checks the data before anything is sent (on the server: %s)', (customLossServerSide) =>
    withTraining({ config: { customLossServerSide } }, async ({ server, service, training }) => {
      const handle = await service.createCustomLoss(clipped, { inputs: INPUTS });
      const { modelInput, lossFnInputs } = data[0] as (typeof data)[0];
      const without = { modelInput, lossFnInputs: { ...lossFnInputs, old: undefined } };
      await expect(training.forwardBackwardCustom([without], handle)).rejects.toThrow('data[0].lossFnInputs.old is missing');
      const flat = { modelInput, lossFnInputs: { ...lossFnInputs, advantages: TensorData.fromArray([[1, 2, 3]], 'float32') } };
      await expect(training.forwardBackwardCustom([flat], handle)).rejects.toThrow('advantages has rank 2');
      await expect(training.forwardBackwardCustom([], handle)).rejects.toThrow('data is empty');
      expect(server.calls.filter(({ route }) => route === 'forwardBackward')).toEqual([]);
      await training.optimStep();
    }),
  );

  it('is refused before anything is sent when it cannot be traced', async () => {
    await using service = new ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'tml-x' });
    await expect(service.createCustomLoss((() => 1) as never)).rejects.toThrow('must return { loss, metrics? }');
    const jax = (logprobs: unknown) => ({ loss: np.sum(logprobs as np.Array) });
    await expect(service.createCustomLoss(jax as never)).rejects.toThrow('Wrap a jax-js function with jaxLoss');
  });
});

describe('jaxLoss', () => {
  const ratioOf = (logprobs: np.Array, old: np.Array) => np.exp(logprobs.sub(old));
  const all: JaxLossFunction<{ advantages: 1; old: 1 }> = (logprobs, { advantages, old }) => {
    const ratio = ratioOf(logprobs.ref, old.ref);
    const gain = np.minimum(ratio.ref.mul(advantages.ref), np.clip(ratio.ref, 0.8, 1.2).mul(advantages));
    const smooth = nn
      .softplus(logprobs.ref)
      .add(nn.sigmoid(old))
      .add(np.tanh(logprobs.ref))
      .add(np.abs(logprobs.ref))
      .add(np.sqrt(ratio.ref));
    const chosen = np.where(logprobs.ref.greater(-5.4), smooth.div(ratio.ref.add(1)), np.log(ratio.ref));
    const inside = np.logicalAnd(ratio.ref.lessEqual(1.2), ratio.ref.greaterEqual(0.8)).astype(np.float32);
    return {
      loss: np.sum(gain).neg().add(np.mean(chosen)).add(np.max(logprobs.ref)).sub(np.min(logprobs)),
      metrics: { 'custom/ratio:mean': np.mean(ratio), 'custom/inside:sum': np.sum(inside) },
    };
  };

  it('computes what jax-js computes', () =>
    withTraining({}, async ({ service, training }) => {
      const handle = await service.createCustomLoss(await jaxLoss(all), { inputs: INPUTS });
      const traced = await training.forwardBackwardCustom(data, handle);
      const one = (index: number) =>
        autodiff((_, [logprobs]) => {
          const { advantages, old } = (data[index] as Datum).lossFnInputs as { advantages: TensorData; old: TensorData };
          const [a, o] = [advantages, old].map((tensor) => np.array(tensor.data as Float32Array)) as [np.Array, np.Array];
          const x = logprobs as np.Array;
          const ratio = ratioOf(x.ref, o.ref);
          const gain = np.minimum(ratio.ref.mul(a.ref), np.clip(ratio.ref, 0.8, 1.2).mul(a));
          const smooth = nn.softplus(x.ref).add(nn.sigmoid(o)).add(np.tanh(x.ref)).add(np.abs(x.ref)).add(np.sqrt(ratio.ref));
          const chosen = np.where(x.ref.greater(-5.4), smooth.div(ratio.ref.add(1)), np.log(ratio));
          return np.sum(gain).neg().add(np.mean(chosen)).add(np.max(x.ref)).sub(np.min(x));
        });
      let expected = 0;
      for (const [index, { logprobs }] of traced.lossFnOutputs.entries()) {
        const given = { data: logprobs?.data as Float32Array, shape: [logprobs?.length as number] };
        const { loss, gradients } = await one(index)([], [given]);
        expected += loss;
        const { gradients: ours } = handle.program.run([data[index] as (typeof data)[0]], [given]);
        for (const [place, slope] of ours[0]?.entries() ?? []) expect(slope).toBeCloseTo(gradients[0]?.[place] as number, 5);
      }
      expect(traced.loss).toBeCloseTo(expected, 4);
    }));

  it.each<[string, Parameters<typeof jaxLoss>[0], string]>([
    ['slices', (logprobs) => np.sum(logprobs.slice([1])), "the jax-js primitive 'shrink'"],
    ['captures an array', (logprobs) => np.sum(logprobs.mul(np.array([2]))), 'an array that is not one of its inputs'],
    ['depends on the length', (logprobs) => np.sum(logprobs.ref).mul(logprobs.shape[0] as number), 'depend on the length of the data'],
    ['returns a constant', (logprobs) => ({ loss: np.sum(logprobs), metrics: { 'custom/n:sum': np.array(3) } }), 'is a constant'],
  ])('refuses a function that %s', async (_, loss, message) => {
    const live = await liveJaxBuffers();
    const traced = await jaxLoss(loss);
    const before = live();
    expect(() => traceLoss(traced)).toThrow(ValidationError);
    expect(() => traceLoss(traced)).toThrow(message);
    expect(live()).toBe(before);
  });

  it('leaves no array behind', async () => {
    const live = await liveJaxBuffers();
    const before = live();
    await withTraining({}, async ({ service }): Promise<LossHandle> => service.createCustomLoss(await jaxLoss(all), { inputs: INPUTS }));
    expect(live()).toBe(before);
  });
});
