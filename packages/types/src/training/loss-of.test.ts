import { describe, expect, it } from 'vitest';
import { TensorData } from '../tensor/tensor-data.js';
import { datum, nextTokenDatum } from './datum.js';
import { lossOf } from './loss-of.js';

const data = [nextTokenDatum([1, 2, 3], { weights: [0, 0.5] }), nextTokenDatum([4, 5])];
const tensor = (...values: number[]) => TensorData.fromArray(values, 'float32');
const output = (lossFnOutputs: Record<string, TensorData>[], metrics: Record<string, number> = {}) => ({
  lossFnOutputType: 'scalar',
  lossFnOutputs,
  metrics,
});

describe('lossOf', () => {
  it('is the metric of a server that sends it', () => {
    expect(lossOf(output([{ logprobs: tensor(-9, -9) }, {}], { 'loss:sum': 3 }), data)).toBe(3);
  });

  it('adds up the loss of each token, which is weighted already', () => {
    expect(lossOf(output([{ elementwise_loss: tensor(0, 2) }, { elementwise_loss: tensor(3) }]), data)).toBe(5);
  });

  it('is the weighted negative logprob of a cross-entropy; a target without weight may have no logprob', () => {
    expect(lossOf(output([{ logprobs: tensor(Number.NaN, -2) }, { logprobs: tensor(-3) }]), data)).toBe(4);
  });

  it('is undefined, not NaN, when the output does not say it', () => {
    expect(lossOf(output([]), [])).toBeUndefined();
    expect(lossOf(output([{}, {}]), data)).toBeUndefined();
    expect(lossOf(output([{ elementwise_loss: tensor(1) }]), data)).toBeUndefined();
    expect(lossOf(output([{ elementwise_loss: tensor(1, 2) }, {}]), data)).toBeUndefined();
    const rl = [datum({ modelInput: data[1]?.modelInput as never, lossFnInputs: { weights: [1], advantages: [2] } })];
    expect(lossOf(output([{ logprobs: tensor(-3) }]), rl)).toBeUndefined();
  });
});
