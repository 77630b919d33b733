import { datum, ModelInput } from '@tinkex/types';
import { compileCustomLoss, traceLoss } from '@tinkex/types/custom-loss';
import { expect, it } from 'vitest';
import { EngineUserError } from '../../src/engine/engine.js';
import { learnEngine } from '../../src/engine/learn-engine.js';

const model = () => learnEngine().createModel({ baseModel: 'tinkex/tiny', lora: { rank: 2, seed: 3 } });
const data = [
  datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 0.5, 2] } }),
  datum({ modelInput: ModelInput.fromInts([9, 8]), lossFnInputs: { targetTokens: [8, 7], weights: [-1, 1] } }),
];
const crossEntropy = compileCustomLoss(
  traceLoss((logprobs, { weights }) => ({ loss: logprobs.mul(weights).sum().neg() }), { inputs: { weights: 1 } }),
);
const forward = { backward: true };

it('a custom loss that is cross-entropy trains exactly like cross-entropy', async () => {
  const [custom, builtIn] = await Promise.all([model(), model()]);
  for (let step = 0; step < 5; step++) {
    const mine = await custom.forward({ data, lossFn: 'custom', customLoss: crossEntropy }, forward);
    const theirs = await builtIn.forward({ data, lossFn: 'cross_entropy' }, forward);
    expect(mine.metrics['loss:sum']).toBeCloseTo(theirs.metrics['loss:sum'] as number, 5);
    expect(mine.lossFnOutputs.map(({ logprobs }) => logprobs?.toArray())).toEqual(
      theirs.lossFnOutputs.map(({ logprobs }) => logprobs?.toArray()),
    );
    await Promise.all([custom, builtIn].map((one) => one.optimStep({ learningRate: 0.01 })));
  }
  expect(await custom.save('training')).toEqual(await builtIn.save('training'));
});

it('a forward pass adds no gradients', async () => {
  const one = await model();
  await one.forward({ data, lossFn: 'custom', customLoss: crossEntropy }, { backward: false });
  expect((await one.optimStep({})).metrics['grad_norm:mean']).toBe(0);
});

it('a datum that cannot be computed leaves the gradients as they were', async () => {
  const one = await model();
  const bad = datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs: { targetTokens: [2] } });
  const infinite = compileCustomLoss(traceLoss((logprobs) => ({ loss: logprobs.sub(logprobs).sqrt().sum() })));
  for (const input of [
    { data: [...data, bad], lossFn: 'custom', customLoss: crossEntropy },
    { data, lossFn: 'custom', customLoss: infinite },
  ]) {
    expect(() => one.forward(input, forward)).toThrow(EngineUserError);
  }
  expect((await one.optimStep({})).metrics['grad_norm:mean']).toBe(0);
});
