import { numpy as np } from '@jax-js/jax';
import { startServer } from '@tinkex/testkit';
import { datum, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { ServiceClient } from '../index.js';
import { autodiff } from './index.js';

const logprobs = (...values: number[][]) => values.map((each) => ({ data: Float32Array.from(each), shape: [each.length] }));

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

  it('passes on what the loss throws, and refuses a loss that is no single number', async () => {
    const failing = autodiff(() => {
      throw new TypeError('my bug');
    });
    await expect(failing([], logprobs([1]))).rejects.toThrow('my bug');
    await expect(autodiff((_, [array]) => array as np.Array)([], logprobs([1, 2]))).rejects.toThrow('scalar');
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
