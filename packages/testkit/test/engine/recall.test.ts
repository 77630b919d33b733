import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { EngineUserError, learnEngine } from '../../src/index.js';
import { IM_END, logprobsOf, meanLoss, QWEN, questionDatum, recall, samplerOf, sampleTokens, trainStep } from './recall.js';

const PROMPT = [151_644, 872, 198, 3_838, 374, 151_900, 30, IM_END];
const data = [questionDatum(PROMPT, [19, 27, IM_END]), questionDatum([...PROMPT, 198], [151_935, 8, 8, IM_END])];
const greedy = { temperature: 0, maxTokens: 8 };

describe('every base model of the table', () => {
  it('trains and samples with its own token ids', async () => {
    const { engine, model } = await recall();
    const first = await trainStep(model, data, 2e-2);
    for (let step = 0; step < 30; step++) await trainStep(model, data, 2e-2);
    expect(first).toBeGreaterThan(11);
    expect(await meanLoss(model, data)).toBeLessThan(0.1);
    const [sequence] = await sampleTokens(await samplerOf(engine, model), PROMPT, greedy);
    expect([...sequence!.tokens]).toEqual([19, 27, IM_END]);
    expect(sequence!.stopReason).toBe('stop');
  });

  it.each([
    { baseModel: 'Qwen/Qwen3-8B', size: 151_936, contextLength: 40_960, tokenizerId: 'Qwen/Qwen3-8B' },
    { baseModel: 'openai/gpt-oss-20b', size: 201_088, contextLength: 131_072, tokenizerId: 'openai/gpt-oss-20b' },
    {
      baseModel: 'meta-llama/Llama-3.1-8B-Instruct',
      size: 128_256,
      contextLength: 131_072,
      tokenizerId: 'thinkingmachineslabinc/meta-llama-3-instruct-tokenizer',
    },
    { baseModel: 'tinkex/small', size: 260, contextLength: 32_768, tokenizerId: 'tinkex/bytes' },
  ])('$baseModel has its vocabulary, context and tokenizer', async ({ baseModel, size, contextLength, tokenizerId }) => {
    const engine = learnEngine();
    const info = engine.findModel?.(baseModel);
    expect(info).toMatchObject({ maxContextLength: contextLength, tokenizerId });
    const { model } = await recall({ baseModel });
    await expect(trainStep(model, [questionDatum([1, size - 1], [2])], 1e-2)).resolves.toBeGreaterThan(0);
    await expect(trainStep(model, [questionDatum([1, size], [2])], 1e-2)).rejects.toThrow(
      `Token ${size} (position 1 of the model_input of datum 0) is not in the vocabulary of ${size} tokens.`,
    );
  });

  it('takes any other name with anyModel, up to 262,144 tokens, and describes it when asked to', async () => {
    const own = { name: 'me/mine', vocabularySize: 500, tokenizerId: 'me/tokens', contextLength: 64, endTokens: [3] };
    const engine = learnEngine({ anyModel: true, models: [own] });
    expect(engine.findModel?.('me/mine')).toMatchObject({ tokenizerId: 'me/tokens', maxContextLength: 64, vocabularySize: 500 });
    expect(engine.findModel?.('you/yours')).toMatchObject({ tokenizerId: 'you/yours', maxContextLength: 32_768, vocabularySize: 262_144 });
    expect(learnEngine().findModel?.('you/yours')).toBeUndefined();
    const model = await engine.createModel({ baseModel: 'you/yours', lora: { rank: 4 } });
    await expect(trainStep(model, [questionDatum([262_143], [262_142])], 1e-2)).resolves.toBeGreaterThan(12);
    expect(() => learnEngine({ models: [{ name: 'too/large', vocabularySize: 262_145 }] })).toThrow('from 2 to 262144');
  });

  it('refuses stop strings where it has no tokenizer, and takes stop tokens', async () => {
    const { engine, model } = await recall();
    const sampler = await samplerOf(engine, model);
    await expect(sampleTokens(sampler, PROMPT, { ...greedy, stop: ['\n'] }).catch((error: Error) => error.message)).resolves.toContain(
      'give stop as token ids',
    );
    const [first] = await sampleTokens(sampler, PROMPT, { maxTokens: 1, seed: 3 });
    const [stopped] = await sampleTokens(sampler, PROMPT, { maxTokens: 9, seed: 3, stop: [first!.tokens[0]!] });
    expect(stopped).toMatchObject({ stopReason: 'stop', tokens: first!.tokens });
  });
});

describe('numbers of the recall model', () => {
  it('are the same in training, in sampling, and with the base model', async () => {
    const { engine, model } = await recall();
    for (let step = 0; step < 5; step++) await trainStep(model, data, 2e-2);
    const sampler = await samplerOf(engine, model);
    const [{ tokens, logprobs }] = (await sampleTokens(sampler, PROMPT, { maxTokens: 3, seed: 5 })) as [never];
    const scored = await logprobsOf(model, questionDatum(PROMPT, [...tokens]));
    expect(scored.slice(PROMPT.length - 1)).toEqual([...logprobs]);
    const fresh = await logprobsOf((await recall({ rank: 32 })).model, data[0]!);
    const prompt = ModelInput.fromInts([...data[0]!.modelInput.toInts(), IM_END]);
    const base = await engine.createSampler({ baseModel: QWEN });
    const { promptLogprobs } = await base.sample({
      prompt,
      numSamples: 1,
      samplingParams: { maxTokens: 1 },
      promptLogprobs: true,
      topkPromptLogprobs: 0,
    });
    expect([...promptLogprobs!].slice(1)).toEqual(fresh);
  });

  it.each(['adamw', 'dimuon'] as const)('continue bit for bit from a checkpoint of %s, and from a stored state', async (optimizer) => {
    const { engine, model } = await recall({ optimizer });
    for (let step = 0; step < 4; step++) await trainStep(model, data.slice(0, 1), 2e-2);
    const checkpoint = await model.save('training');
    const loaded = (await recall({ optimizer })).model;
    await loaded.load(checkpoint, { optimizer: true });
    const stored = (await recall({ optimizer })).model;
    await model.forward({ data, lossFn: 'cross_entropy' }, { backward: true });
    await stored.restore?.(structuredClone(model.state!()));
    await loaded.forward({ data, lossFn: 'cross_entropy' }, { backward: true });
    for (const each of [model, loaded, stored]) await each.optimStep({ learningRate: 2e-2 });
    for (let step = 0; step < 3; step++) {
      const losses = [];
      for (const each of [model, loaded, stored]) losses.push(await trainStep(each, data, 2e-2));
      expect(new Set(losses).size).toBe(1);
    }
    const fresh = (await recall({ optimizer })).model;
    await fresh.load(checkpoint, { optimizer: false });
    expect(await logprobsOf(fresh, data[1]!)).not.toEqual(await logprobsOf(model, data[1]!));
    await expect(samplerOf(engine, loaded)).resolves.toBeDefined();
  });

  it('move only in the parts that are trained', async () => {
    for (const flags of [
      { trainAttn: false, trainMlp: false },
      { trainAttn: false, trainUnembed: false },
      { trainMlp: false, trainUnembed: false },
    ]) {
      const { engine, model } = await recall({ trainAttn: true, trainMlp: true, trainUnembed: true, ...flags });
      const repeated = [questionDatum([5, 6, 7, 8, 5, 6], [7, 8, 5])];
      const before = await meanLoss(model, repeated);
      for (let step = 0; step < 20; step++) await trainStep(model, repeated, 3e-2);
      expect(await meanLoss(model, repeated)).toBeLessThan(before - 0.5);
      await expect(samplerOf(engine, model)).resolves.toBeDefined();
    }
    await expect(recall({ trainAttn: false, trainMlp: false, trainUnembed: false })).rejects.toThrow(EngineUserError);
  });
});

describe('samples of the recall model', () => {
  it('cut into pieces equal the whole, with a seed', async () => {
    const { engine, model } = await recall();
    for (let step = 0; step < 3; step++) await trainStep(model, data, 2e-2);
    const sampler = await samplerOf(engine, model);
    const whole = await sampleTokens(sampler, PROMPT, { maxTokens: 12, seed: 7, stop: [] }, 2);
    const [start] = await sampleTokens(sampler, PROMPT, { maxTokens: 5, seed: 7, stop: [] });
    const [rest] = await sampleTokens(sampler, [...PROMPT, ...start!.tokens], { maxTokens: 7, seed: 7, stop: [] });
    expect([...start!.tokens, ...rest!.tokens]).toEqual([...whole[0]!.tokens]);
    expect([...whole[1]!.tokens]).not.toEqual([...whole[0]!.tokens]);
  });

  it('without a seed depend on the prompt and on how often it was sampled, not on the order of the calls', async () => {
    const one = await (await recall({ samplingSeed: 4 })).engine.createSampler({ baseModel: QWEN });
    const engine = learnEngine({ seed: 4 });
    const two = await engine.createSampler({ baseModel: QWEN });
    const draw = async (sampler: typeof one, prompt: number[]) => [...(await sampleTokens(sampler, prompt, { maxTokens: 4 }))[0]!.tokens];
    const inOrder = [await draw(one, [1]), await draw(one, [1]), await draw(one, [2])];
    const mixed = [await draw(two, [2]), await draw(two, [1])];
    const restarted = learnEngine({ seed: 4 });
    restarted.counters!.restore(engine.counters!.entries());
    mixed.push(await draw((await restarted.createSampler({ baseModel: QWEN })) as typeof one, [1]));
    expect([mixed[1], mixed[2], mixed[0]]).toEqual(inOrder);
    expect(inOrder[0]).not.toEqual(inOrder[1]);
    const other = await learnEngine({ seed: 5 }).createSampler({ baseModel: QWEN });
    expect(await draw(other as typeof one, [1])).not.toEqual(inOrder[0]);
  });

  it('report log-probabilities before the temperature, or after it when asked to', async () => {
    const raw = await learnEngine().createSampler({ baseModel: QWEN });
    const tempered = await learnEngine({ sampledLogprobs: 'tempered' }).createSampler({ baseModel: QWEN });
    const params = { maxTokens: 3, temperature: 0.5, seed: 1 };
    const [[first], [second]] = [await sampleTokens(raw, PROMPT, params), await sampleTokens(tempered, PROMPT, params)];
    expect([...first!.tokens]).toEqual([...second!.tokens]);
    expect(first!.logprobs![0]).not.toBeCloseTo(second!.logprobs![0]!, 2);
    const atOne = { ...params, temperature: 1 };
    expect((await sampleTokens(raw, PROMPT, atOne))[0]!.logprobs).toEqual((await sampleTokens(tempered, PROMPT, atOne))[0]!.logprobs);
  });
});
