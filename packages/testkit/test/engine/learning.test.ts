import { describe, expect, it } from 'vitest';
import { complete, sentences, setUp, train } from './sentences.js';

describe('thirty steps on ten sentences', () => {
  describe.each([{ rank: 8 }, { rank: 32 }])('at rank $rank', ({ rank }) => {
    it.each([1e-3, 3e-3])('more than halve the loss with learning rate %f', async (learningRate) => {
      const { model } = await setUp({ rank });
      const losses = await train(model, 30, learningRate);
      expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    });

    it.each([1e-2, 5e-2])('teach every sentence by heart with learning rate %f', async (learningRate) => {
      const { engine, model } = await setUp({ rank });
      const losses = await train(model, 30, learningRate);
      expect(losses.at(-1)!).toBeLessThan(losses[0]! / 20);
      for (const sentence of sentences) expect(await complete(engine, model, sentence.slice(0, 5))).toBe(sentence);
    });
  });

  it.each([
    { name: 'attention', flags: { trainMlp: false, trainUnembed: false } },
    { name: 'mlp', flags: { trainAttn: false, trainUnembed: false } },
    { name: 'unembedding', flags: { trainAttn: false, trainMlp: false } },
  ])('teach something to the $name alone', async ({ flags }) => {
    const { model } = await setUp(flags);
    const losses = await train(model, 30, 2e-2);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! - 1);
  });
});

describe('the base model', () => {
  it('is not far from a blind guess, and no worse', async () => {
    const { model } = await setUp();
    const [loss] = await train(model, 0, 0);
    expect(loss!).toBeGreaterThan(4);
    expect(loss!).toBeLessThan(Math.log(260));
  });

  it('is what a new adapter of any rank and seed computes', async () => {
    const losses = await Promise.all(
      [{ rank: 1 }, { rank: 8, seed: 5 }, { rank: 64, trainAttn: false }].map(async (setup) => train((await setUp(setup)).model, 0, 0)),
    );
    expect(new Set(losses.flat()).size).toBe(1);
  });
});
