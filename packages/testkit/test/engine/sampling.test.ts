import { datum, image, ModelInput, type SamplingParams, TensorData } from '@tinkex/types';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Engine,
  type EngineModel,
  type EngineSampleInput,
  type EngineSampler,
  EngineUserError,
  learnEngine,
} from '../../src/index.js';
import { prompt, setUp, tokenizer, train } from './sentences.js';

let engine: Engine;
let model: EngineModel;
let sampler: EngineSampler;

/** Half-trained on two sentences: likely, but not certain, continuations. */
beforeAll(async () => {
  ({ engine, model } = await setUp());
  await train(model, 8, 1e-2, ['one, two, three, four', 'one, two; buckle my shoe']);
  sampler = await engine.createSampler({ baseModel: 'tinkex/tiny', checkpoint: await model.save('sampler') });
});

async function sample(
  text: string | ModelInput,
  samplingParams: SamplingParams,
  options: Partial<Omit<EngineSampleInput, 'prompt' | 'samplingParams'>> = {},
  from = sampler,
) {
  return from.sample({
    prompt: typeof text === 'string' ? prompt(text) : text,
    numSamples: 1,
    promptLogprobs: false,
    topkPromptLogprobs: 0,
    samplingParams,
    ...options,
  });
}

/** What training reports for the tokens of a text after the first. */
async function trainingLogprobs(tokens: ArrayLike<number>): Promise<Float32Array> {
  const all = Array.from(tokens);
  const lossFnInputs = { targetTokens: all.slice(1), weights: new Float32Array(all.length - 1) };
  const data = [datum({ modelInput: ModelInput.fromInts(all.slice(0, -1)), lossFnInputs })];
  const { lossFnOutputs } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: false });
  return lossFnOutputs[0]!.logprobs!.data as Float32Array;
}

describe('log-probabilities', () => {
  it('of sampled tokens equal those of training bit for bit, whatever the temperature', async () => {
    const start = tokenizer.encode('one, ');
    for (const params of [
      { temperature: 0 },
      { temperature: 0.3, seed: 1 },
      { seed: 2 },
      { temperature: 2, topK: 5, topP: 0.9, seed: 3 },
    ]) {
      const { sequences } = await sample('one, ', { maxTokens: 20, ...params });
      const { tokens, logprobs } = sequences[0]!;
      expect(logprobs).toEqual((await trainingLogprobs([...start, ...tokens])).subarray(start.length - 1));
    }
  });

  it('of the prompt equal those of training; the first has none', async () => {
    const { promptLogprobs } = await sample('one, two', { maxTokens: 1 }, { promptLogprobs: true });
    expect(promptLogprobs![0]).toBeNaN();
    expect(promptLogprobs!.subarray(1)).toEqual(await trainingLogprobs(tokenizer.encode('one, two')));
  });

  it('of the k most likely tokens come sorted, with an empty first row', async () => {
    const text = 'one, t';
    const { topkPromptLogprobs, promptLogprobs } = await sample(text, { maxTokens: 1 }, { topkPromptLogprobs: 3, promptLogprobs: true });
    const rows = topkPromptLogprobs!.toList();
    expect([topkPromptLogprobs!.k, topkPromptLogprobs!.length, rows[0]]).toEqual([3, text.length, null]);
    for (const [position, row] of rows.entries()) {
      if (row === null) continue;
      const logprobs = row.map(([, logprob]) => logprob);
      expect(logprobs).toEqual([...logprobs].sort((a, b) => b - a));
      const own = row.find(([token]) => token === text.charCodeAt(position));
      if (own !== undefined) expect(own[1]).toBe(promptLogprobs![position]);
      else expect(promptLogprobs![position]).toBeLessThanOrEqual(logprobs[2]!);
    }
  });

  it('of the last n prompt tokens only, NaN and empty rows before them', async () => {
    const all = await sample('one, t', { maxTokens: 1, seed: 1 }, { promptLogprobs: true, topkPromptLogprobs: 2 });
    const last = await sample('one, t', { maxTokens: 1, seed: 1 }, { promptLogprobs: true, topkPromptLogprobs: 2, promptLogprobsLastN: 2 });
    expect(Array.from(last.promptLogprobs!, Number.isNaN)).toEqual([true, true, true, true, false, false]);
    expect(last.promptLogprobs!.subarray(4)).toEqual(all.promptLogprobs!.subarray(4));
    const [rows, allRows] = [last.topkPromptLogprobs!.toList(), all.topkPromptLogprobs!.toList()];
    expect(rows).toEqual([null, null, null, null, ...allRows.slice(4)]);
  });

  it('of the most likely tokens at each sampled position come with the sample, the sampled one among them when greedy', async () => {
    const { sequences } = await sample('one, ', { maxTokens: 4, temperature: 0 }, { topkSampleLogprobs: 2 });
    const { tokens, logprobs, topkLogprobs } = sequences[0]!;
    expect(topkLogprobs!.toList().map((row) => row![0])).toEqual(Array.from(tokens, (token, index) => [token, logprobs![index]]));
    expect(topkLogprobs).toMatchObject({ k: 2, length: tokens.length });
  });

  it('of given tokens, dense or sparse, equal those of the prompt; 0 where none is requested', async () => {
    const tokens = [...tokenizer.encode('one')];
    const dense = TensorData.fromArray(
      [
        [tokens[1]!, -1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -1, tokens[2]!],
      ],
      'int64',
    );
    const sparse = dense.toSmallest({ padValue: -1 });
    expect(sparse.isSparse).toBe(true);
    const options = { promptLogprobs: true, targetPromptLogprobs: dense };
    const { promptLogprobs, targetPromptLogprobs: scores } = await sample('one', { maxTokens: 1 }, options);
    const [, second, third] = promptLogprobs!;
    expect(scores!.toArray()).toEqual([
      [second, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, third],
    ]);
    const { targetPromptLogprobs: kept } = await sample('one', { maxTokens: 1 }, { ...options, targetPromptLogprobs: sparse });
    expect(kept!.isSparse).toBe(true);
    expect(kept!.toArray()).toEqual(scores!.toArray());
  });

  it('of alternatives belong to tokens drawn at the temperature of the request, and change no sample', async () => {
    const greedy = await sample('one, t', { maxTokens: 4, temperature: 0 }, { promptAltTokensK: 3, topkPromptLogprobs: 1 });
    const best = greedy.topkPromptLogprobs!.toList().slice(1);
    expect(greedy.promptAltTokens!.tokens.toArray()).toEqual(best.map((row) => Array(3).fill(row![0]![0])));
    expect(greedy.promptAltTokens!.logprobs.toArray()).toEqual(best.map((row) => Array(3).fill(row![0]![1])));
    const warm = await sample('one, t', { maxTokens: 4, seed: 5 }, { promptAltTokensK: 64 });
    expect(new Set(warm.promptAltTokens!.tokens.toNumbers()).size).toBeGreaterThan(5);
    expect(warm.sequences).toEqual((await sample('one, t', { maxTokens: 4, seed: 5 })).sequences);
  });

  it('come only when asked for', async () => {
    const response = await sample('one', { maxTokens: 1 });
    expect(Object.keys(response).sort()).toEqual(['promptCacheHitTokens', 'sequences']);
  });

  it('skip the positions of images', async () => {
    const input = prompt('a')
      .append(image({ data: Uint8Array.of(7), format: 'png', expectedTokens: 2 }))
      .append(prompt('b').chunks[0]!);
    const { promptLogprobs } = await sample(input, { maxTokens: 1 }, { promptLogprobs: true });
    expect(Array.from(promptLogprobs!, Number.isNaN)).toEqual([true, true, true, false]);
  });
});

describe('sampling', () => {
  it('with temperature 0 is greedy and ignores the seed', async () => {
    const outputs = await Promise.all(
      [1, 2, undefined].map((seed) => sample('one, ', { temperature: 0, maxTokens: 12, ...(seed === undefined ? {} : { seed }) })),
    );
    expect(outputs[1]).toEqual(outputs[0]);
    expect(outputs[2]).toEqual(outputs[0]);
    expect(tokenizer.decode(outputs[0]!.sequences[0]!.tokens)).toMatch(/^two/);
  });

  it('repeats itself with a seed, and differs with another, also beyond 53 bits', async () => {
    const draw = async (seed: number | bigint) => Array.from((await sample('x', { maxTokens: 16, seed })).sequences[0]!.tokens);
    expect(await draw(7)).toEqual(await draw(7));
    expect(await draw(7)).toEqual(await draw(7n));
    expect(await draw(7)).not.toEqual(await draw(8));
    expect(await draw(2n ** 62n + 1n)).not.toEqual(await draw(2n ** 62n));
    expect(await draw(2n ** 62n)).not.toEqual(await draw(0));
  });

  it('without a seed differs from call to call, but not from engine to engine', async () => {
    const draws = async (seed: number) => {
      const base = await learnEngine({ seed }).createSampler({ baseModel: 'tinkex/tiny' });
      return [await sample('x', { maxTokens: 16 }, {}, base), await sample('x', { maxTokens: 16 }, {}, base)];
    };
    const [first, second] = await draws(1);
    expect(second).not.toEqual(first);
    expect(await draws(1)).toEqual([first, second]);
    expect((await draws(2))[0]).not.toEqual(first);
  });

  it('gives each sample of a call its own draw', async () => {
    const { sequences } = await sample('x', { maxTokens: 16, seed: 1 }, { numSamples: 4 });
    expect(new Set(sequences.map(({ tokens }) => tokens.join())).size).toBe(4);
  });

  it('draws from the model: frequencies match its log-probabilities (chi-square, 99.9 %)', async () => {
    const draws = 4000;
    const { sequences } = await sample('one, two', { maxTokens: 1, seed: 42 }, { numSamples: draws });
    const counts = new Map<number, number>();
    const probabilities = new Map<number, number>();
    for (const { tokens, logprobs } of sequences) {
      counts.set(tokens[0]!, (counts.get(tokens[0]!) ?? 0) + 1);
      probabilities.set(tokens[0]!, Math.exp(logprobs![0]!));
    }
    const frequent = [...counts].filter(([token]) => draws * probabilities.get(token)! >= 10);
    const inside = frequent.reduce((sum, [token]) => sum + probabilities.get(token)!, 0);
    const cells = frequent.map(([token, count]) => ({ count, expected: draws * probabilities.get(token)! }));
    cells.push({ count: draws - frequent.reduce((sum, [, count]) => sum + count, 0), expected: draws * (1 - inside) });
    const chiSquare = cells.reduce((sum, { count, expected }) => sum + (count - expected) ** 2 / expected, 0);
    const degrees = cells.length - 1;
    expect(degrees).toBeGreaterThan(1);
    // Wilson and Hilferty's approximation of the 99.9 % quantile.
    expect(chiSquare).toBeLessThan(degrees * (1 - 2 / (9 * degrees) + 3.09 * Math.sqrt(2 / (9 * degrees))) ** 3);
  });

  it('with top-k 1 is greedy at any temperature', async () => {
    const [greedy, narrow] = [
      await sample('one, ', { temperature: 0, maxTokens: 12 }),
      await sample('one, ', { temperature: 3, topK: 1, maxTokens: 12 }),
    ];
    expect(narrow.sequences).toEqual(greedy.sequences);
  });
});

describe('a sequence ends', () => {
  it('at max tokens, with reason length', async () => {
    const { sequences } = await sample('one', { maxTokens: 3, temperature: 0 });
    expect(sequences[0]).toMatchObject({ stopReason: 'length' });
    expect(sequences[0]!.tokens).toHaveLength(3);
    expect(sequences[0]!.logprobs).toHaveLength(3);
  });

  it.each<[string, SamplingParams['stop'], string]>([
    ['a string', ',', 'one,'],
    ['one of several strings', ['zzz', ' tw'], 'one, tw'],
    ['a token', [0x74], 'one, t'],
  ])('at %s, which it includes', async (_name, stop, expected) => {
    const { sequences } = await sample('o', { maxTokens: 30, temperature: 0, ...(stop === undefined ? {} : { stop }) });
    expect(`o${tokenizer.decode(sequences[0]!.tokens)}`).toBe(expected);
    expect(sequences[0]!.stopReason).toBe('stop');
  });

  it('not because of a stop string that begins in the prompt', async () => {
    const { sequences } = await sample('one, tw', { maxTokens: 1, temperature: 0, stop: 'wo' });
    expect(tokenizer.decode(sequences[0]!.tokens)).toBe('o');
    expect(sequences[0]!.stopReason).toBe('length');
  });

  it('at the end-of-text token', async () => {
    const { sequences } = await sample('x', { seed: 1 }, { numSamples: 3 });
    for (const { tokens, stopReason } of sequences) {
      expect(stopReason).toBe('stop');
      expect(tokens.indexOf(tokenizer.eosTokenId)).toBe(tokens.length - 1);
    }
  });

  it('not at the end-of-text token with an empty list of stops', async () => {
    const { sequences } = await sample('x', { seed: 1, maxTokens: 400, stop: [] }, { numSamples: 3 });
    for (const { tokens, stopReason } of sequences) {
      expect([stopReason, tokens.length]).toEqual(['length', 400]);
      expect(tokens).toContain(tokenizer.eosTokenId);
    }
  });

  it('where the context is full, when max tokens is not set', async () => {
    const short = learnEngine({ models: [{ name: 'short', contextLength: 6 }] });
    const base = await short.createSampler({ baseModel: 'short' });
    const { sequences } = await sample('abcd', { temperature: 0 }, {}, base);
    expect(sequences[0]!.tokens).toHaveLength(2);
    await expect(sample('abcdef', { temperature: 0 }, {}, base)).rejects.toThrow(/exceed the context of 6/);
    await expect(sample('abcd', { maxTokens: 3 }, {}, base)).rejects.toThrow(/exceed the context of 6/);
  });
});

describe('wrong sampling inputs are user errors', () => {
  it.each<[SamplingParams, RegExp]>([
    [{ temperature: -1 }, /temperature/],
    [{ topP: 0 }, /top_p/],
    [{ topP: 1.5 }, /top_p/],
    [{ topK: -2 }, /top_k/],
    [{ maxTokens: 0 }, /max_tokens/],
    [{ stop: '' }, /stop/],
    [{ stop: [999] }, /Token 999/],
  ])('%o', async (params, message) => {
    await expect(sample('x', params)).rejects.toThrow(EngineUserError);
    await expect(sample('x', params)).rejects.toThrow(message);
  });

  it.each<[Partial<EngineSampleInput>, RegExp]>([
    [{ topkSampleLogprobs: -1 }, /topk_sample_logprobs/],
    [{ promptAltTokensK: 0.5 }, /prompt_alt_tokens_k/],
    [{ promptLogprobs: true, promptLogprobsLastN: 3 }, /from 1 to 2/],
    [{ targetPromptLogprobs: TensorData.fromArray([[1]], 'int64') }, /shape \[2, K\]/],
    [{ targetPromptLogprobs: TensorData.fromArray([[1], [2]], 'float32') }, /must be int64/],
    [{ targetPromptLogprobs: TensorData.fromArray([[-1], [-1]], 'int64') }, /names no token/],
    [{ targetPromptLogprobs: TensorData.fromArray([[999], [-1]], 'int64') }, /Token 999/],
  ])('%o of a prompt of three tokens', async (options, message) => {
    await expect(sample('abc', { maxTokens: 1 }, options)).rejects.toThrow(EngineUserError);
    await expect(sample('abc', { maxTokens: 1 }, options)).rejects.toThrow(message);
  });

  it('an empty prompt, no samples, tokens outside the vocabulary', async () => {
    await expect(sample(ModelInput.empty(), {})).rejects.toThrow(/prompt is empty/);
    await expect(sample('x', {}, { numSamples: 0 })).rejects.toThrow(/num_samples/);
    await expect(sample(ModelInput.fromInts([-1]), {})).rejects.toThrow(/Token -1 \(position 0 of the prompt\)/);
  });
});
