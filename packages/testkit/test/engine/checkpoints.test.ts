import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeSafetensors } from '../../src/engine/safetensors.js';
import { type CheckpointFiles, type EngineModel, EngineUserError, learnEngine } from '../../src/index.js';
import { complete, prompt, sentenceDatum, setUp, train } from './sentences.js';

const text = ['resume where you stopped'];

/** Every bit of a checkpoint, short enough to compare. */
function fingerprint(files: CheckpointFiles): string[] {
  return [...files].map(([name, bytes]) => `${name} ${createHash('sha256').update(bytes).digest('hex')}`);
}

async function state(model: EngineModel): Promise<string[]> {
  return fingerprint(await model.save('training'));
}

describe('save and load', () => {
  it('with the optimizer state continue bit for bit', async () => {
    const { model } = await setUp();
    await train(model, 3, 1e-2, text);
    const saved = await model.save('training');
    const expected = await train(model, 3, 1e-2, text);
    const { model: resumed } = await setUp({ seed: 99 });
    await resumed.load(saved, { optimizer: true });
    expect(await train(resumed, 3, 1e-2, text)).toEqual(expected);
    expect(await state(resumed)).toEqual(await state(model));
  });

  it('without it keep the weights exactly and reset the optimizer', async () => {
    const { model } = await setUp();
    await train(model, 3, 1e-2, text);
    const saved = await model.save('training');
    const expected = await train(model, 2, 1e-2, text);
    const { model: resumed } = await setUp();
    await train(resumed, 1, 1e-2, text);
    await resumed.load(saved, { optimizer: false });
    const losses = await train(resumed, 2, 1e-2, text);
    expect(losses[0]).toBe(expected[0]);
    expect(losses[1]).not.toBe(expected[1]);
    expect((await resumed.optimStep({})).metrics['optimizer_step:max']).toBe(3);
  });

  it('drop gradients accumulated before the load', async () => {
    const { model } = await setUp();
    const saved = await model.save('training');
    await model.forward({ data: text.map(sentenceDatum), lossFn: 'cross_entropy' }, { backward: true });
    await model.load(saved, { optimizer: true });
    expect((await model.optimStep({})).metrics['grad_norm:mean']).toBe(0);
  });

  it('work on another engine: the base depends on the name alone', async () => {
    const { engine, model } = await setUp();
    await train(model, 30, 2e-2, text);
    const other = learnEngine({ seed: 1234 });
    expect(await complete(other, model, 'resu')).toBe(text[0]);
    expect(await complete(engine, model, 'resu')).toBe(text[0]);
  });

  it('freeze what a sampler sees: later steps do not change it', async () => {
    const { engine, model } = await setUp();
    const sampler = await engine.createSampler({ baseModel: 'tinkex/tiny', checkpoint: await model.save('sampler') });
    const draw = () =>
      sampler.sample({
        prompt: prompt('re'),
        numSamples: 1,
        samplingParams: { temperature: 0, maxTokens: 5 },
        promptLogprobs: true,
        topkPromptLogprobs: 0,
      });
    const before = await draw();
    await train(model, 5, 1e-2, text);
    expect(await draw()).toEqual(before);
  });
});

describe('the files of a checkpoint', () => {
  it('are those of a PEFT adapter, with the optimizer only for training', async () => {
    const { model } = await setUp({ rank: 4, trainAttn: false });
    const [training, sampler] = [await model.save('training'), await model.save('sampler')];
    expect([...sampler.keys()]).toEqual(['adapter_config.json', 'adapter_model.safetensors', 'checkpoint_complete']);
    expect([...training.keys()]).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
      'optimizer.safetensors',
      'checkpoint_complete',
    ]);
    expect(JSON.parse(new TextDecoder().decode(sampler.get('adapter_config.json')))).toMatchObject({
      peft_type: 'LORA',
      base_model_name_or_path: 'tinkex/tiny',
      r: 4,
      lora_alpha: 32,
      target_modules: ['down_proj', 'lm_head'],
    });
    const { tensors } = decodeSafetensors(sampler.get('adapter_model.safetensors')!);
    expect(tensors.map(({ name, shape }) => [name, shape])).toEqual([
      ['base_model.model.model.layers.0.mlp.down_proj.lora_A.weight', [4, 4096]],
      ['base_model.model.model.layers.0.mlp.down_proj.lora_B.weight', [16, 4]],
      ['base_model.model.lm_head.lora_A.weight', [4, 16]],
      ['base_model.model.lm_head.lora_B.weight', [260, 4]],
    ]);
  });
});

describe('a checkpoint that does not fit', () => {
  it.each([
    ['another rank', { rank: 4 }, /holds a rank 4 adapter.*this model is a rank 8/],
    ['other modules', { rank: 8, trainMlp: false }, /does not fit/],
  ])('is refused for %s and changes nothing', async (_name, setup, message) => {
    const { model } = await setUp();
    await train(model, 2, 1e-2, text);
    const before = await state(model);
    const { model: other } = await setUp(setup);
    const saved = await other.save('training');
    await expect(async () => model.load(saved, { optimizer: true })).rejects.toThrow(message);
    expect(await state(model)).toEqual(before);
  });

  it('is refused when the optimizer state is requested and missing, and changes nothing', async () => {
    const { model } = await setUp();
    const saved = await model.save('sampler');
    await train(model, 2, 1e-2, text);
    const before = await state(model);
    await expect(async () => model.load(saved, { optimizer: true })).rejects.toThrow(/without the optimizer state/);
    expect(await state(model)).toEqual(before);
    await model.load(saved, { optimizer: false });
    expect(fingerprint(await model.save('sampler'))).toEqual(fingerprint(saved));
  });

  it.each<[string, [string, Uint8Array | undefined]]>([
    ['its configuration is missing', ['adapter_config.json', undefined]],
    ['its configuration is not JSON', ['adapter_config.json', new Uint8Array([123])]],
    ['its configuration lacks the rank', ['adapter_config.json', new TextEncoder().encode('{}')]],
    ['its weights are missing', ['adapter_model.safetensors', undefined]],
    ['its weights are damaged', ['adapter_model.safetensors', new Uint8Array(9)]],
    ['its optimizer state is damaged', ['optimizer.safetensors', new Uint8Array(9)]],
  ])('is refused when %s', async (_name, [file, content]) => {
    const { model } = await setUp();
    const files = new Map(await model.save('training'));
    if (content === undefined) files.delete(file);
    else files.set(file, content);
    await expect(async () => model.load(files, { optimizer: true })).rejects.toThrow(EngineUserError);
  });

  it('is refused by a sampler of another base model', async () => {
    const engine = learnEngine({ models: ['a', 'b'] });
    const model = await engine.createModel({ baseModel: 'a', lora: { rank: 2, trainAttn: true, trainMlp: true, trainUnembed: true } });
    const checkpoint = await model.save('sampler');
    expect(() => engine.createSampler({ baseModel: 'b', checkpoint })).toThrow(/belongs to a, not to b/);
  });
});
