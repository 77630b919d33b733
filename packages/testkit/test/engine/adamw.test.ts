import { describe, expect, it } from 'vitest';
import { AdamW, type AdamWSettings, clipScale, gradientNorm } from '../../src/engine/adamw.js';

const settings: AdamWSettings = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, gradClipNorm: 0 };

function optimizer(...start: number[]) {
  const weights = [{ name: 'w', values: Float32Array.from(start) }];
  const adam = new AdamW(weights);
  return {
    adam,
    step(gradient: number[], change: Partial<AdamWSettings> = {}, scale = 1) {
      adam.update(weights, [{ name: 'w', values: Float64Array.from(gradient) }], scale, { ...settings, ...change });
      return Array.from(weights[0]!.values);
    },
  };
}

describe('AdamW', () => {
  it('follows two steps worked out by hand, with weight decay', () => {
    const { step } = optimizer(1);
    // Step 1: 1 - 0.1·0.1 = 0.99; m̂ = 0.5, v̂ = 0.25; 0.99 - 0.1 · 0.5 / 0.5 = 0.89.
    expect(step([0.5], { weightDecay: 0.1 })[0]).toBeCloseTo(0.89, 6);
    // Step 2: 0.89 · 0.99 = 0.8811; m = 0.045 - 0.02 = 0.025, v = 0.011875 + 0.002 = 0.013875;
    // m̂ = 0.025 / 0.19 = 0.1315789, v̂ = 0.013875 / 0.0975 = 0.1423077, root 0.3772369; 0.8811 - 0.1 · 0.3487965 = 0.8462203.
    expect(step([-0.2], { weightDecay: 0.1 })[0]).toBeCloseTo(0.8462203, 6);
  });

  it('adds eps outside the root', () => {
    // m̂ / (√v̂ + eps) = 0.5 / (0.5 + 0.5); inside the root it would be 0.5 / √0.75.
    expect(optimizer(0).step([0.5], { eps: 0.5 })[0]).toBeCloseTo(-0.05, 7);
  });

  it('decays weights apart from the gradient: without gradient only the decay is left', () => {
    expect(optimizer(2).step([0], { weightDecay: 0.5 })[0]).toBeCloseTo(2 * 0.95, 7);
  });

  it('moves on by momentum when a step brings no gradient', () => {
    const { step } = optimizer(0);
    const [first] = step([1]);
    const [second] = step([0]);
    expect(second).toBeLessThan(first!);
  });

  it('leaves weights that never had a gradient alone, even with eps 0', () => {
    expect(optimizer(0.25, 1).step([0, 1], { eps: 0 })).toEqual([0.25, Math.fround(0.9)]);
  });

  it('restores a state exactly and forgets it without one', () => {
    const original = optimizer(1);
    original.step([0.3]);
    const state = {
      family: 'adamw' as const,
      step: 1,
      moments: new Map(
        [...original.adam.moments].map(([name, { first, second }]) => [name, { first: first.slice(), second: second.slice() }]),
      ),
    };
    const expected = original.step([0.7]);
    const resumed = optimizer(Math.fround(0.9));
    resumed.adam.restore(state);
    expect(resumed.step([0.7])).toEqual(expected);
    resumed.adam.restore();
    expect(resumed.adam.step).toBe(0);
    expect([...resumed.adam.moments.values()]).toEqual([{ first: Float32Array.of(0), second: Float32Array.of(0) }]);
  });
});

describe('clipping', () => {
  it('takes the norm over all matrices', () => {
    expect(
      gradientNorm([
        { name: 'a', values: Float64Array.of(3) },
        { name: 'b', values: Float64Array.of(0, 4) },
      ]),
    ).toBe(5);
  });

  it('scales down to the limit, never up, and 0 means no limit', () => {
    expect(clipScale(5, 1) * 5).toBeCloseTo(1, 5);
    expect(clipScale(0.5, 1)).toBe(1);
    expect(clipScale(1e9, 0)).toBe(1);
  });

  it('reaches the moments', () => {
    const { adam, step } = optimizer(0);
    step([5], {}, 0.2);
    expect(adam.moments.get('w')!.first[0]).toBeCloseTo(0.1, 7);
  });
});
