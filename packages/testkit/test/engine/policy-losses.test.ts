import { type Datum, datum, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import type { EngineModel } from '../../src/index.js';
import { setUp, tokenizer } from './sentences.js';

const liked = tokenizer.encode('yes, gladly');
const disliked = tokenizer.encode('no, never');

/** The model's log-probabilities of a text, by a forward pass with weights of zero, as custom losses ask for them. */
async function logprobsOf(model: EngineModel, tokens: number[]): Promise<Float32Array> {
  const inputs = { targetTokens: tokens.slice(1), weights: new Float32Array(tokens.length - 1) };
  const data = [datum({ modelInput: ModelInput.fromInts(tokens.slice(0, -1)), lossFnInputs: inputs })];
  const { lossFnOutputs } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: false });
  return lossFnOutputs[0]!.logprobs!.data as Float32Array;
}

async function policyDatum(model: EngineModel, tokens: number[], advantage: number): Promise<Datum> {
  const logprobs = await logprobsOf(model, tokens);
  const lossFnInputs = { targetTokens: tokens.slice(1), logprobs, advantages: logprobs.map(() => advantage) };
  return datum({ modelInput: ModelInput.fromInts(tokens.slice(0, -1)), lossFnInputs });
}

const sum = (values: Float32Array) => values.reduce((total, value) => total + value, 0);

describe.each(['importance_sampling', 'ppo', 'cispo', 'dro'])('%s', (lossFn) => {
  it('makes what is rewarded likelier and what is punished less likely', async () => {
    const { model } = await setUp();
    const before = [sum(await logprobsOf(model, liked)), sum(await logprobsOf(model, disliked))];
    for (let step = 0; step < 5; step++) {
      const data = [await policyDatum(model, liked, 1), await policyDatum(model, disliked, -1)];
      await model.forward({ data, lossFn }, { backward: true });
      await model.optimStep({ learningRate: 3e-3 });
    }
    expect(sum(await logprobsOf(model, liked))).toBeGreaterThan(before[0]! + 1);
    expect(sum(await logprobsOf(model, disliked))).toBeLessThan(before[1]! - 1);
  });

  it('starts on-policy: the ratio is 1 and nothing is clipped', async () => {
    const { model } = await setUp();
    const { metrics, lossFnOutputs } = await model.forward({ data: [await policyDatum(model, liked, 1)], lossFn }, { backward: true });
    expect(metrics['clipped_tokens:sum']).toBe(lossFn === 'ppo' || lossFn === 'cispo' ? 0 : undefined);
    const expected = lossFn === 'importance_sampling' || lossFn === 'ppo' ? -(liked.length - 1) : -sum(await logprobsOf(model, liked));
    expect(metrics['loss:sum']).toBeCloseTo(expected, 4);
    expect(sum(lossFnOutputs[0]!.elementwise_loss!.data as Float32Array)).toBeCloseTo(expected, 4);
  });
});
