import { numpy as np } from '@jax-js/jax';
import { startServer } from '@tinkex/testkit';
import { datum, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { liveJaxBuffers } from '../../test/support/live-jax-buffers.js';
import { ServiceClient } from '../index.js';
import { autodiff, type DifferentiableLoss } from './index.js';

const logprobs = (...values: number[][]) => values.map((each) => ({ data: Float32Array.from(each), shape: [each.length] }));

const withMetric = (all: np.Array) => ({ loss: np.mean(np.exp(all.ref)), metrics: { 'kl:mean': np.mean(all), 'plain:mean': 1 } });
const withVector = (all: np.Array) => ({ loss: np.mean(np.exp(all.ref)), metrics: { each: all } });
const fail = (message: string): never => {
  throw new TypeError(message);
};
const failAfter = (made: np.Array): never => {
  try {
    return fail('my bug');
  } finally {
    made.dispose();
  }
};

describe('autodiff', () => {
  it('takes the gradient with respect to each logprob', async () => {
    const loss = autodiff((_, arrays) => arrays.reduce((sum, array) => sum.add(np.sum(np.exp(array))), np.zeros([])));
    const result = await loss([], logprobs([0, 1], [2]));
    expect(result.loss).toBeCloseTo(1 + Math.E + Math.E ** 2, 4);
    expect(result.gradients.map((each) => [...each])).toEqual([
      [expect.closeTo(1, 5), expect.closeTo(Math.E, 5)],
      [expect.closeTo(Math.E ** 2, 4)],
    ]);
  });

  it('keeps shapes, gives zero gradients to logprobs that do not matter, and passes metrics on', async () => {
    const inputs = [{ data: Float32Array.from([1, 2, 3, 4]), shape: [2, 2] }, ...logprobs([5])];
    const loss = autodiff((_, [first, second]) => {
      second?.dispose();
      expect(first?.shape).toEqual([2, 2]);
      return { loss: np.sum(first as np.Array).mul(2), metrics: { 'plain:mean': 3, 'array:mean': np.array(7) } };
    });
    const { gradients, metrics } = await loss([], inputs);
    expect(gradients.map((each) => [...each])).toEqual([[2, 2, 2, 2], [0]]);
    expect(metrics).toEqual({ 'plain:mean': 3, 'array:mean': 7 });
  });

  it('reads a logprob array that is a view into a larger buffer', async () => {
    const buffer = Float32Array.from([9, 9, 1, 2]).subarray(2);
    const { gradients } = await autodiff((_, [array]) => np.sum((array as np.Array).ref.mul(array as np.Array)))(
      [],
      [{ data: buffer, shape: [2] }],
    );
    expect([...(gradients[0] as Float32Array)]).toEqual([2, 4]);
  });

  it('passes on what the loss throws, and refuses a loss that is not a single number', async () => {
    const failing = autodiff(() => {
      throw new TypeError('my bug');
    });
    await expect(failing([], logprobs([1]))).rejects.toThrow('my bug');
    await expect(autodiff((_, [array]) => array as np.Array)([], logprobs([1, 2]))).rejects.toThrow('returns scalars');
  });

  it.each<[string, DifferentiableLoss, string | undefined]>([
    ['is fine', (_, arrays) => np.mean(np.exp(np.concatenate(arrays))), undefined],
    ['has metrics', (_, arrays) => withMetric(np.concatenate(arrays)), undefined],
    ['has a gradient that is its input', (_, [first]) => np.sum(first?.ref.mul(first) as np.Array).mul(0.5), undefined],
    ['leaves logprobs unused', (_, [first]) => np.sum(np.exp(first as np.Array)), undefined],
    ['throws at once', () => fail('my bug'), 'my bug'],
    ['throws after it has disposed what it made', (_, arrays) => failAfter(np.exp(np.concatenate(arrays))), 'my bug'],
    ['throws after it has used one of two', (_, [first]) => failAfter(np.exp(first as np.Array)), 'my bug'],
    ['adds shapes that do not fit', (_, [first, second]) => first?.add(second as np.Array) as np.Array, 'broadcast'],
    ['returns a vector', (_, arrays) => np.exp(np.concatenate(arrays)), 'the loss is an array of shape [5]'],
    ['has a metric that is a vector', (_, arrays) => withVector(np.concatenate(arrays)), 'the metric each is an array of shape [5]'],
    ['returns nothing', () => undefined as never, 'the loss is of type undefined'],
    ['returns a promise', (async () => undefined) as never, 'the loss is a promise'],
  ])('leaves no array behind when the loss %s', async (_, loss, message) => {
    const live = await liveJaxBuffers();
    const before = live();
    const work = autodiff(loss)([], logprobs([1, 2, 3], [4, 5]));
    if (message === undefined) await work;
    else await expect(work).rejects.toThrow(message);
    expect(live()).toBe(before);
  });

  it('trains: the custom loss −mean(logprob) has the gradients of cross-entropy with weights 1/n', async () => {
    await using server = await startServer();
    await using service = new ServiceClient(server.clientOptions);
    const data = [
      datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4] } }),
      datum({ modelInput: ModelInput.fromInts([5]), lossFnInputs: { targetTokens: [6] } }),
    ];
    const weighted = data.map(({ modelInput, lossFnInputs }) =>
      datum({ modelInput, lossFnInputs: { ...lossFnInputs, weights: new Float32Array(modelInput.length).fill(0.25) } }),
    );
    const [custom, builtIn] = await Promise.all(
      [1, 2].map(() => service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 3 })),
    );
    const loss = autodiff((_, arrays) => np.mean(np.concatenate(arrays)).neg());
    for (let step = 0; step < 3; step += 1) {
      const mine = custom?.forwardBackwardCustom(data, loss);
      const theirs = builtIn?.forwardBackward(weighted, 'cross_entropy');
      await Promise.all([custom?.optimStep({ learningRate: 0.01 }), builtIn?.optimStep({ learningRate: 0.01 })]);
      expect((await mine)?.loss).toBeCloseTo((await theirs)?.metrics['loss:sum'] ?? Number.NaN, 3);
    }
    server.verify();
  });
});
