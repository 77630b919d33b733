import { describe, expect, it } from 'vitest';
import { seededStream } from '../../src/engine/random.js';
import { choiceProbabilities, chooseToken, mostLikelyToken, rankTokens } from '../../src/engine/token-choice.js';

const logits = Float64Array.from([0.4, 0.1, 0.3, 0.15, 0.05], Math.log);
const settings = { temperature: 1, topK: -1, topP: 1 };

function expectProbabilities(actual: Float64Array, expected: number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, token) => {
    expect(value).toBeCloseTo(expected[token]!, 12);
  });
}

describe('the distribution a token is drawn from', () => {
  it('is the model at temperature 1', () => {
    expectProbabilities(choiceProbabilities(logits, settings), [0.4, 0.1, 0.3, 0.15, 0.05]);
  });

  it('is sharpened by a temperature below 1', () => {
    const squares = [0.16, 0.01, 0.09, 0.0225, 0.0025].map((value) => value / 0.285);
    expectProbabilities(choiceProbabilities(logits, { ...settings, temperature: 0.5 }), squares);
  });

  it('keeps exactly the k most likely', () => {
    expectProbabilities(choiceProbabilities(logits, { ...settings, topK: 2 }), [4 / 7, 0, 3 / 7, 0, 0]);
    expectProbabilities(choiceProbabilities(logits, { ...settings, topK: 99 }), [0.4, 0.1, 0.3, 0.15, 0.05]);
  });

  it.each([
    { topP: 0.39, kept: [1, 0, 0, 0, 0] },
    { topP: 0.41, kept: [1, 0, 1, 0, 0] },
    { topP: 0.69, kept: [1, 0, 1, 0, 0] },
    { topP: 0.71, kept: [1, 0, 1, 1, 0] },
    { topP: 0.96, kept: [1, 1, 1, 1, 1] },
  ])('keeps the smallest set that reaches top-p $topP', ({ topP, kept }) => {
    const actual = choiceProbabilities(logits, { ...settings, topP });
    expect(Array.from(actual, (value) => Number(value > 0))).toEqual(kept);
    expect(actual.reduce((sum, value) => sum + value)).toBeCloseTo(1, 12);
  });

  it('counts top-p on what top-k has left', () => {
    // Of 4/7 and 3/7 the first alone reaches 0.55; of the full distribution it would not.
    expectProbabilities(choiceProbabilities(logits, { ...settings, topK: 2, topP: 0.55 }), [1, 0, 0, 0, 0]);
  });

  it('keeps the lower ids among equals', () => {
    const equals = new Float64Array(5);
    expectProbabilities(choiceProbabilities(equals, { ...settings, topK: 2 }), [0.5, 0.5, 0, 0, 0]);
    expectProbabilities(choiceProbabilities(equals, { ...settings, topP: 0.5 }), [1 / 3, 1 / 3, 1 / 3, 0, 0]);
  });

  it('is the most likely token at temperature 0, the lowest id among equals', () => {
    expect(mostLikelyToken(Float64Array.of(1, 2, 2))).toBe(1);
    expectProbabilities(choiceProbabilities(Float64Array.of(1, 2, 2), { ...settings, temperature: 0 }), [0, 1, 0]);
    expect(Array.from(rankTokens(Float64Array.of(1, 2, 2)))).toEqual([1, 2, 0]);
  });
});

describe('drawing', () => {
  it('follows the distribution (chi-square, 4 degrees of freedom, 99.9 %)', () => {
    const random = seededStream(1234);
    const draws = 20_000;
    const counts = new Array<number>(5).fill(0);
    for (let draw = 0; draw < draws; draw++) counts[chooseToken(logits, settings, random)]!++;
    const expected = choiceProbabilities(logits, settings);
    const chiSquare = counts.reduce((sum, count, token) => sum + (count - draws * expected[token]!) ** 2 / (draws * expected[token]!), 0);
    expect(chiSquare).toBeLessThan(18.47);
  });

  it('never leaves the truncated set, not even at the edges of the random number', () => {
    for (const value of [0, 0.5, 1 - 2 ** -32]) expect([0, 2]).toContain(chooseToken(logits, { ...settings, topK: 2 }, () => value));
  });
});
