import { type Datum, datum, dmel, image, ModelInput, TensorData } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { EngineUserError, learnEngine } from '../../src/index.js';
import { sentenceDatum, sentences, setUp, train } from './sentences.js';

const crossEntropy = (...data: Datum[]) => ({ data, lossFn: 'cross_entropy' });

function example(lossFnInputs: Parameters<typeof datum>[0]['lossFnInputs'], tokens = [72, 105]): Datum {
  return datum({ modelInput: ModelInput.fromInts(tokens), lossFnInputs: lossFnInputs ?? {} });
}

describe('a forward pass', () => {
  it('reports a log-probability and a loss for each target, and sums as metrics', async () => {
    const { model } = await setUp();
    const data = crossEntropy(example({ targetTokens: [105, 33], weights: [1, 0.5] }), example({ targetTokens: [1, 2], weights: [0, 2] }));
    const { lossFnOutputs, metrics, lossFnOutputType } = await model.forward(data, { backward: false });
    expect(lossFnOutputType).toBe('ArrayRecord');
    expect(lossFnOutputs).toHaveLength(2);
    const [logprobs, losses] = [lossFnOutputs[0]!.logprobs!, lossFnOutputs[0]!.elementwise_loss!];
    expect([logprobs.dtype, logprobs.shape, losses.dtype, losses.shape]).toEqual(['float32', [2], 'float32', [2]]);
    expect(losses.data[1]).toBeCloseTo(-0.5 * Number(logprobs.data[1]), 6);
    const total = lossFnOutputs.reduce(
      (sum, output) => sum + Number(output.elementwise_loss!.data[0]) + Number(output.elementwise_loss!.data[1]),
      0,
    );
    expect(metrics['loss:sum']).toBeCloseTo(total, 5);
    expect(metrics).toMatchObject({ 'tokens:sum': 4, 'weights:sum': 3.5 });
  });

  it('gives probabilities that add up to one', async () => {
    const { model } = await setUp();
    await train(model, 3, 1e-2);
    const every = Array.from({ length: 260 }, (_, token) => token);
    const lossFnInputs = { targetTokens: [every, every], weights: [every.map(() => 0), every.map(() => 0)] };
    const { lossFnOutputs } = await model.forward(crossEntropy(example(lossFnInputs)), { backward: false });
    expect(lossFnOutputs[0]!.logprobs!.shape).toEqual([2, 260]);
    for (const row of lossFnOutputs[0]!.logprobs!.toArray() as number[][]) {
      expect(row.reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    }
  });

  it('reads sparse targets and weights', async () => {
    const { model } = await setUp();
    const dense = {
      targetTokens: TensorData.fromArray(
        [
          [0, 0, 0, 0, 0, 65],
          [0, 0, 0, 0, 0, 66],
        ],
        'int64',
      ),
      weights: TensorData.fromArray(
        [
          [0, 0, 0, 0, 0, 1],
          [0, 0, 0, 0, 0, 2],
        ],
        'float32',
      ),
    };
    const sparse = { targetTokens: dense.targetTokens.toSmallest(), weights: dense.weights.toSmallest() };
    expect(sparse.weights.isSparse).toBe(true);
    const [first, second] = [
      await model.forward(crossEntropy(example(dense)), { backward: false }),
      await model.forward(crossEntropy(example(sparse)), { backward: false }),
    ];
    expect(second).toEqual(first);
  });

  it('leaves no gradient behind unless asked', async () => {
    const { model } = await setUp();
    await model.forward(crossEntropy(sentenceDatum(sentences[0]!)), { backward: false });
    expect((await model.optimStep({ learningRate: 1 })).metrics['grad_norm:mean']).toBe(0);
  });

  it('reads images and audio as context that depends on their content', async () => {
    const { model } = await setUp();
    const logprob = async (input: ModelInput) => {
      const { lossFnOutputs } = await model.forward(
        crossEntropy(
          datum({
            modelInput: input,
            lossFnInputs: { targetTokens: new Array(input.length).fill(65), weights: new Array(input.length).fill(1) },
          }),
        ),
        { backward: true },
      );
      return lossFnOutputs[0]!.logprobs!.data.at(-1);
    };
    const picture = (byte: number) =>
      ModelInput.empty()
        .append(image({ data: Uint8Array.of(byte), format: 'png', expectedTokens: 5 }))
        .appendInt(72);
    const sound = ModelInput.empty()
      .append(dmel(Uint8Array.of(4, 2, 3, 1, 9, 9, 9)))
      .appendInt(72);
    expect(sound.length).toBe(4);
    const [one, again, other, audio] = [
      await logprob(picture(1)),
      await logprob(picture(1)),
      await logprob(picture(2)),
      await logprob(sound),
    ];
    expect(again).toBe(one);
    expect(new Set([one, other, audio]).size).toBe(3);
  });
});

describe('gradient accumulation', () => {
  it('over several calls equals one call with all data', async () => {
    const data = sentences.slice(0, 4).map(sentenceDatum);
    const runs = await Promise.all(
      [[data], [data.slice(0, 1), data.slice(1)], data.map((one) => [one])].map(async (calls) => {
        const { model } = await setUp();
        for (const call of calls) await model.forward(crossEntropy(...call), { backward: true });
        const { metrics } = await model.optimStep({ learningRate: 1e-2 });
        const { metrics: after } = await model.forward(crossEntropy(...data), { backward: false });
        return [metrics['grad_norm:mean'], after['loss:sum']];
      }),
    );
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });

  it('ends with the optimizer step', async () => {
    const { model } = await setUp();
    await model.forward(crossEntropy(sentenceDatum('once')), { backward: true });
    expect((await model.optimStep({ learningRate: 1e-3 })).metrics['grad_norm:mean']).toBeGreaterThan(0);
    expect((await model.optimStep({ learningRate: 1e-3 })).metrics).toEqual({
      'grad_norm:mean': 0,
      'learning_rate:mean': 1e-3,
      'optimizer_step:max': 2,
    });
  });

  it('survives a call that was refused', async () => {
    const { model } = await setUp();
    await model.forward(crossEntropy(sentenceDatum('kept')), { backward: true });
    const bad = crossEntropy(sentenceDatum('not kept'), example({ targetTokens: [1], weights: [1] }));
    await expect(async () => model.forward(bad, { backward: true })).rejects.toThrow(EngineUserError);
    const { metrics } = await model.optimStep({ learningRate: 1e-3 });
    const { model: fresh } = await setUp();
    await fresh.forward(crossEntropy(sentenceDatum('kept')), { backward: true });
    expect(metrics).toEqual((await fresh.optimStep({ learningRate: 1e-3 })).metrics);
  });
});

describe('an optimizer step', () => {
  it('uses the documented defaults', async () => {
    const results = await Promise.all(
      [{}, { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-12, weightDecay: 0, gradClipNorm: 0 }].map(async (params) => {
        const { model } = await setUp();
        await model.forward(crossEntropy(sentenceDatum('default')), { backward: true });
        await model.optimStep(params);
        return Buffer.from((await model.save('training')).get('adapter_model.safetensors')!).toString('base64');
      }),
    );
    expect(results[1] === results[0]).toBe(true);
  });

  it('clips by the norm over all matrices', async () => {
    // With a huge eps the step is proportional to the gradient, so clipping shows.
    const moved = async (gradClipNorm: number) => {
      const { model } = await setUp();
      const before = (await model.forward(crossEntropy(sentenceDatum('clip')), { backward: true })).metrics['loss:sum']!;
      const { metrics } = await model.optimStep({ learningRate: 1, eps: 1e6, gradClipNorm });
      const after = (await model.forward(crossEntropy(sentenceDatum('clip')), { backward: false })).metrics['loss:sum']!;
      return { norm: metrics['grad_norm:mean']!, fall: before - after };
    };
    const free = await moved(0);
    const clipped = await moved(free.norm / 4);
    expect(clipped.norm).toBe(free.norm);
    expect(clipped.fall / free.fall).toBeCloseTo(1 / 4, 2);
    expect((await moved(free.norm * 4)).fall).toBe(free.fall);
  });

  it.each([
    { learningRate: -1 },
    { beta1: 1 },
    { beta2: -0.1 },
    { eps: Number.NaN },
    { weightDecay: -1 },
    { gradClipNorm: Number.POSITIVE_INFINITY },
  ])('refuses %o', async (params) => {
    const { model } = await setUp();
    await expect(async () => model.optimStep(params)).rejects.toThrow(EngineUserError);
  });
});

describe('the same seeds', () => {
  it('give the same run bit for bit, other seeds another one', async () => {
    const run = async (seed: number) => train((await setUp({ seed })).model, 5, 1e-2);
    expect(await run(1)).toEqual(await run(1));
    expect((await run(2)).at(-1)).not.toBe((await run(1)).at(-1));
  });

  it('of the engine count for models without one', async () => {
    const run = async (seed: number) => {
      const model = await learnEngine({ seed }).createModel({
        baseModel: 'tinkex/tiny',
        lora: { rank: 4, trainAttn: true, trainMlp: true, trainUnembed: true },
      });
      return (await train(model, 2, 1e-2)).at(-1);
    };
    expect(await run(1)).toBe(await run(1));
    expect(await run(1)).not.toBe(await run(2));
  });
});

describe('wrong training inputs are user errors that say what to change', () => {
  const image5 = image({ data: Uint8Array.of(1), format: 'png' });
  it.each<[string, Datum, string, RegExp]>([
    ['no target_tokens', example({ weights: [1, 1] }), 'cross_entropy', /target_tokens is missing in datum 0/],
    ['no advantages', example({ targetTokens: [1, 2], logprobs: [0, 0] }), 'ppo', /advantages is missing in datum 0; loss function 'ppo'/],
    [
      'an input too many',
      example({ targetTokens: [1, 2], weights: [1, 1], advantages: [1, 1] }),
      'cross_entropy',
      /takes no input 'advantages'/,
    ],
    ['fewer targets than inputs', example({ targetTokens: [1], weights: [1] }), 'cross_entropy', /shape \[1\].*2 tokens/],
    [
      'targets of three dimensions',
      example({ targetTokens: [[[1]], [[2]]], weights: [[[1]], [[1]]] }),
      'cross_entropy',
      /shape \[2, 1, 1\]/,
    ],
    ['weights of another shape', example({ targetTokens: [1, 2], weights: [1] }), 'cross_entropy', /weights of datum 0 has shape \[1\]/],
    [
      'targets that are no integers',
      example({ targetTokens: TensorData.fromArray([1, 2], 'float32'), weights: [1, 1] }),
      'cross_entropy',
      /must be int64/,
    ],
    [
      'a target outside the vocabulary',
      example({ targetTokens: [1, 260], weights: [1, 1] }),
      'cross_entropy',
      /Token 260 \(target 1 of datum 0\)/,
    ],
    [
      'an input outside the vocabulary',
      example({ targetTokens: [1, 2], weights: [1, 1] }, [1, 50256]),
      'cross_entropy',
      /Token 50256.*ByteTokenizer/,
    ],
    ['a weight that is no number', example({ targetTokens: [1, 2], weights: [1, Number.NaN] }), 'cross_entropy', /finite/],
    ['an empty input', example({ targetTokens: [], weights: [] }, []), 'cross_entropy', /empty/],
    [
      'an image of unknown length',
      datum({ modelInput: new ModelInput([image5]), lossFnInputs: { targetTokens: [1], weights: [1] } }),
      'cross_entropy',
      /length .* is not known/,
    ],
    ['an unknown loss', example({ targetTokens: [1, 2], weights: [1, 1] }), 'hinge', /Unknown loss function 'hinge'/],
  ])('%s', async (_name, data, lossFn, message) => {
    const { model } = await setUp();
    const act = async () => model.forward({ data: [data], lossFn }, { backward: true });
    await expect(act).rejects.toThrow(EngineUserError);
    await expect(act).rejects.toThrow(message);
  });

  it('no data, too long a context', async () => {
    const engine = learnEngine({ models: [{ name: 'short', contextLength: 8 }] });
    const model = await engine.createModel({ baseModel: 'short', lora: { rank: 1, trainAttn: true, trainMlp: true, trainUnembed: true } });
    await expect(async () => model.forward(crossEntropy(), { backward: true })).rejects.toThrow(/data is empty/);
    await expect(async () => model.forward(crossEntropy(sentenceDatum('123456789')), { backward: true })).rejects.toThrow(
      /9 tokens; the model's context is 8/,
    );
    expect((await model.forward(crossEntropy(sentenceDatum('12345678')), { backward: true })).metrics['tokens:sum']).toBe(8);
  });

  it.each([
    [{ rank: 0 }, /rank/],
    [{ rank: 2.5 }, /rank/],
    [{ rank: 1000 }, /rank/],
    [{ rank: 8, trainAttn: false, trainMlp: false, trainUnembed: false }, /Nothing to train/],
  ])('an adapter of %o', async (setup, message) => {
    await expect(async () => setUp(setup)).rejects.toThrow(message);
  });

  it('an unknown base model', () => {
    expect(() =>
      learnEngine().createModel({ baseModel: 'gpt', lora: { rank: 8, trainAttn: true, trainMlp: true, trainUnembed: true } }),
    ).toThrow(/'gpt'.*tinkex\/tiny/);
    expect(() => learnEngine().createSampler({ baseModel: 'gpt' })).toThrow(EngineUserError);
  });
});
