import { describe, expect, it } from 'vitest';
import { EngineUserError } from '../../src/engine/engine.js';
import { findLossFunction, resolveLossConfig, type TokenLoss } from '../../src/engine/losses.js';

/** One token: log-probability `logprob`, sampled with `sampled`, advantage `advantage`. */
function evaluate(name: string, logprob: number, inputs: Record<string, number>, config?: Record<string, number>): TokenLoss {
  const loss = findLossFunction(name);
  const arrays = Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, Float32Array.of(value)]));
  const out: TokenLoss = { value: Number.NaN, slope: Number.NaN, isClipped: false };
  loss.bind(arrays, resolveLossConfig(name, loss, config), () => Float64Array.of(logprob))(logprob, 0, out);
  return out;
}

describe('loss functions, by hand', () => {
  it('cross_entropy is -w * lp', () => {
    expect(evaluate('cross_entropy', -2, { weights: 0.5 })).toEqual({ value: 1, slope: -0.5, isClipped: false });
  });

  it('cross_entropy without weights weighs every token 1', () => {
    expect(evaluate('cross_entropy', -2, {})).toEqual({ value: 2, slope: -1, isClipped: false });
  });

  it('importance_sampling is -r * A', () => {
    const { value, slope } = evaluate('importance_sampling', -1, { logprobs: -1.5, advantages: 2 });
    expect(value).toBeCloseTo(-2 * Math.exp(0.5), 12);
    expect(slope).toBeCloseTo(-2 * Math.exp(0.5), 12);
  });

  it.each([
    { ratio: 1.1, advantage: 2, value: -2.2, slope: -2.2, isClipped: false },
    { ratio: 1.5, advantage: 2, value: -2.4, slope: 0, isClipped: true },
    { ratio: 1.5, advantage: -2, value: 3, slope: 3, isClipped: false },
    { ratio: 0.5, advantage: 2, value: -1, slope: -1, isClipped: false },
    { ratio: 0.5, advantage: -2, value: 1.6, slope: 0, isClipped: true },
  ])('ppo at ratio $ratio with advantage $advantage', ({ ratio, advantage, ...expected }) => {
    const actual = evaluate('ppo', Math.log(ratio) - 1, { logprobs: -1, advantages: advantage });
    expect(actual.value).toBeCloseTo(expected.value, 6);
    expect(actual.slope).toBeCloseTo(expected.slope, 6);
    expect(actual.isClipped).toBe(expected.isClipped);
  });

  it.each([
    { ratio: 1.1, factor: 1.1 },
    { ratio: 3, factor: 1.2 },
    { ratio: 0.1, factor: 0.8 },
  ])('cispo at ratio $ratio weighs the log-probability with $factor', ({ ratio, factor }) => {
    const logprob = Math.log(ratio) - 1;
    const { value, slope } = evaluate('cispo', logprob, { logprobs: -1, advantages: 2 });
    expect(value).toBeCloseTo(-factor * 2 * logprob, 6);
    expect(slope).toBeCloseTo(-factor * 2, 6);
  });

  it('dro is -(lp * A - beta/2 * (lp - q)^2)', () => {
    const { value, slope } = evaluate('dro', -1, { logprobs: -3, advantages: 0.5 }, { beta: 0.1 });
    expect(value).toBeCloseTo(0.5 + 0.2, 12);
    expect(slope).toBeCloseTo(-0.5 + 0.2, 12);
  });

  it.each([
    // r is the geometric mean of 2 and 0.8 over the two masked tokens: √1.6 = 1.264911.
    { clip: 1.5, values: [-1.264911, 0, 2.529822], slopes: [0.632456, 0, 0.632456], clipped: [false, false, false] },
    // Clipping takes the first token out; the third has a negative advantage and stays.
    { clip: 1.2, values: [-1.2, 0, 2.529822], slopes: [1.264911, 0, 1.264911], clipped: [true, false, false] },
  ])('gspo has one ratio for the masked sequence, clipped at $clip', ({ clip, values, slopes, clipped }) => {
    const logprobs = Float64Array.of(Math.log(2) - 1, -5, Math.log(0.8) - 1);
    const inputs = {
      logprobs: Float32Array.of(-1, -1, -1),
      advantages: Float32Array.of(1, 7, -2),
      sequenceRatioMask: Float32Array.of(1, 0, 1),
    };
    const loss = findLossFunction('gspo');
    const tokenLoss = loss.bind(inputs, resolveLossConfig('gspo', loss, { clip_high_threshold: clip }), () => logprobs);
    logprobs.forEach((logprob, index) => {
      const out: TokenLoss = { value: Number.NaN, slope: Number.NaN, isClipped: false };
      tokenLoss(logprob, index, out);
      expect(out.value).toBeCloseTo(values[index]!, 5);
      expect(out.slope).toBeCloseTo(slopes[index]!, 5);
      expect(out.isClipped).toBe(clipped[index]);
    });
  });

  it('gspo of a sequence without a masked token is zero', () => {
    const { value, slope } = evaluate('gspo', -1, { logprobs: -3, advantages: 2, sequenceRatioMask: 0 });
    expect([value + 0, slope + 0]).toEqual([0, 0]);
  });

  it('thresholds come from the configuration, or from the token itself', () => {
    const inputs = { logprobs: 0, advantages: 1 };
    expect(evaluate('ppo', Math.log(3), inputs, { clip_high_threshold: 2 }).value).toBeCloseTo(-2, 6);
    expect(evaluate('ppo', Math.log(3), { ...inputs, clipHighThreshold: 2.5 }, { clip_high_threshold: 2 }).value).toBeCloseTo(-2.5, 6);
  });
});

describe('wrong configuration is a user error', () => {
  it.each([
    ['nonsense', undefined, /Unknown loss function 'nonsense'.*cross_entropy/],
    ['stable_reinforce', undefined, /Unknown loss function 'stable_reinforce'/],
    ['ppo', { clip_low_threshold: '0.5' }, /finite number, got 0\.5/],
    ['cross_entropy', { beta: 1 }, /no configuration 'beta' \(known: none\)/],
    ['ppo', { beta: 1 }, /no configuration 'beta' \(known: clip_low_threshold, clip_high_threshold\)/],
    ['ppo', { clip_low_threshold: 2 }, /must not exceed/],
    ['ppo', { clip_low_threshold: Number.NaN }, /finite/],
    ['dro', { beta: -1 }, /must not be negative/],
  ])('%s with %o', (name, config, message) => {
    const act = () => resolveLossConfig(name, findLossFunction(name), config);
    expect(act).toThrow(EngineUserError);
    expect(act).toThrow(message);
  });
});
