import { describe, expect, it } from 'vitest';
import { smooth } from '../chart/smoothing.js';
import { groupMetrics } from './metric-groups.js';

describe('groupMetrics', () => {
  it("puts what matters first, and the loop's own counters nowhere", () => {
    const names = [
      'time/total',
      'grad_norm:mean',
      'train_mean_nll',
      'test/nll',
      'env/all/reward/total',
      'optim/kl_sample_train_v1',
      'progress',
      'x',
    ];
    expect(groupMetrics(names).map(({ title, metrics }) => [title, ...metrics])).toEqual([
      ['Loss', 'train_mean_nll'],
      ['Reward', 'env/all/reward/total'],
      ['Validation', 'test/nll'],
      ['KL and entropy', 'optim/kl_sample_train_v1'],
      ['Optimizer', 'grad_norm:mean'],
      ['Others', 'x'],
      ['Time', 'time/total'],
    ]);
  });
});

describe('smooth', () => {
  it('leaves a constant as it is, from its first value on', () => {
    for (const value of smooth([3, 3, 3], 0.9)) expect(value).toBeCloseTo(3);
  });

  it('does nothing at 0, and follows slowly near 1', () => {
    expect(Array.from(smooth([1, 2, 3], 0))).toEqual([1, 2, 3]);
    expect(smooth([0, 10], 0.9)[1]).toBeCloseTo(5.26, 1);
  });
});
