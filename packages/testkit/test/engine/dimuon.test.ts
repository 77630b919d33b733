import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Dimuon, orthogonalize } from '../../src/engine/dimuon.js';
import { seededStream } from '../../src/engine/random.js';
import { EngineUserError, learnEngine } from '../../src/index.js';
import { sentenceDatum } from './sentences.js';

/** MᵀM, row-major. */
function gram(matrix: ArrayLike<number>, columns: number): number[] {
  const rows = matrix.length / columns;
  return Array.from({ length: columns * columns }, (_, at) => {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += matrix[row * columns + Math.floor(at / columns)]! * matrix[row * columns + (at % columns)]!;
    return sum;
  });
}

describe('orthogonalizing', () => {
  it.each([1, 2, 8, 32])('makes all %i singular values of a tall matrix equal', (columns) => {
    const random = seededStream(columns);
    const rows = 40;
    const matrix = Float32Array.from({ length: rows * columns }, () => random() - 0.5);
    gram(orthogonalize(matrix, columns), columns).forEach((value, at) => {
      expect(value).toBeCloseTo(at % (columns + 1) === 0 ? rows : 0, 6);
    });
  });

  it('keeps the direction: a scaled gradient gives the same step', () => {
    const matrix = Float32Array.of(1, 2, 3, 4, 5, 7);
    const scaled = matrix.map((value) => value * 1024);
    const expected = orthogonalize(matrix, 2);
    for (const [index, value] of orthogonalize(scaled, 2).entries()) expect(value).toBeCloseTo(expected[index]!, 9);
  });

  it('works out by hand: a diagonal becomes the identity, times the root of the rows in use', () => {
    const result = orthogonalize(Float32Array.of(3, 0, 0, -0.5, 0, 0), 2);
    expect(Array.from(result, (value) => Number((value / Math.SQRT2).toFixed(9)) + 0)).toEqual([1, 0, 0, -1, 0, 0]);
  });

  it('moves no direction that has no gradient', () => {
    expect(orthogonalize(new Float32Array(6), 2)).toEqual(new Float64Array(6));
    const single = orthogonalize(Float32Array.of(3, 4), 2);
    expect(Array.from(single, (value) => Number(value.toFixed(9)))).toEqual([0.6, 0.8]);
  });
});

describe('Dimuon', () => {
  it('steps along the orthogonalized mean of the gradients', () => {
    const weights = [{ name: 'w', values: Float32Array.of(0, 0) }];
    const dimuon = new Dimuon(weights, 1);
    const step = (...gradient: number[]) =>
      dimuon.update(weights, [{ name: 'w', values: Float64Array.from(gradient) }], 1, { learningRate: 0.1, gradClipNorm: 0, beta1: 0.5 });
    step(4, 0);
    expect(Array.from(weights[0]!.values)).toEqual([Math.fround(-0.1), 0]);
    // The mean is now (0.5 · 2, 0.5 · 2): both rows are in use, each moves by 0.1 · √2 / √2.
    step(0, 2);
    expect(dimuon.moments.get('w')?.momentum).toEqual(Float32Array.of(1, 1));
    expect(weights[0]!.values[1]).toBeCloseTo(-0.1, 7);
    expect(dimuon.step).toBe(2);
  });

  it.each([
    [{}, /learningRate/],
    [{ learningRate: -1 }, /learningRate/],
    [{ learningRate: 1, beta1: 1 }, /beta1/],
    [{ learningRate: 1, gradClipNorm: Number.NaN }, /gradClipNorm/],
  ])('refuses %j', (params, message) => {
    const dimuon = new Dimuon([], 1);
    expect(() => dimuon.settings(params as never)).toThrow(EngineUserError);
    expect(() => dimuon.settings(params as never)).toThrow(message);
  });

  it('takes a negative clip norm for no clipping', () => {
    expect(new Dimuon([], 1).settings({ learningRate: 1, gradClipNorm: -1 })).toEqual({ learningRate: 1, gradClipNorm: -1, beta1: 0.9 });
  });
});

describe('a model trained with Dimuon', () => {
  const text = ['dimuon learns this sentence', 'and this one as well'];
  const create = (optimizer: 'adamw' | 'dimuon' = 'dimuon', seed = 1) =>
    learnEngine().createModel({ baseModel: 'tinkex/tiny', lora: { rank: 8, seed }, optimizer: { type: optimizer } });

  async function train(model: Awaited<ReturnType<typeof create>>, steps: number, learningRate = 1e-2): Promise<number[]> {
    const losses: number[] = [];
    for (let step = 0; step < steps; step++) {
      const { metrics } = await model.forward({ data: text.map(sentenceDatum), lossFn: 'cross_entropy' }, { backward: true });
      losses.push(metrics['loss:sum']!);
      await model.optimStep({ learningRate });
    }
    return losses;
  }

  it.each([3e-3, 1e-2, 3e-2])('more than halves its loss in thirty steps at a learning rate of %d', async (learningRate) => {
    const losses = await train(await create(), 30, learningRate);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
  });

  it('continues bit for bit from its checkpoint', async () => {
    const model = await create();
    await train(model, 3);
    const saved = await model.save('training');
    const expected = await train(model, 3);
    const resumed = await create('dimuon', 99);
    await resumed.load(saved, { optimizer: true });
    expect(await train(resumed, 3)).toEqual(expected);
    const hash = async (files: Awaited<ReturnType<typeof model.save>>) =>
      [...files].map(([name, bytes]) => `${name} ${createHash('sha256').update(bytes).digest('hex')}`);
    expect(await hash(await resumed.save('training'))).toEqual(await hash(await model.save('training')));
  });

  it('exchanges weights with AdamW, but never the state of the optimizer', async () => {
    const dimuon = await create();
    await train(dimuon, 2);
    const saved = await dimuon.save('training');
    const adam = await create('adamw');
    await expect(async () => adam.load(saved, { optimizer: true })).rejects.toThrow(
      'holds the state of dimuon, but this model is trained with adamw',
    );
    await adam.load(saved, { optimizer: false });
    await expect(async () => dimuon.load(await adam.save('training'), { optimizer: true })).rejects.toThrow('holds the state of adamw');
  });
});
