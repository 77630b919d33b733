import { bitsPerByte, lrMultiplier, meanNll, nllEvaluator, numpyPermutation, rowDataset } from '@tinkex/cookbook';
import { datumFromModelInputWeights, getLoraParamCount, getLr } from '@tinkex/renderers';
import { ByteTokenizer, type Datum, datum, ModelInput } from '@tinkex/types';
import { datumCodec } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { Checkpointer } from '../src/checkpoints/checkpointer.js';
import { checkpointName, dueSave } from '../src/checkpoints/save-policy.js';
import { splitConversations } from '../src/data/conversation-source.js';
import { streamDataset } from '../src/data/stream-dataset.js';

type Failure = { readonly error: string };

const tokenizer = new ByteTokenizer();
const numberOf = (value: number | string): number => Number(value);

function expectClose(actual: number, expected: number | string, tolerance: number): void {
  const wanted = numberOf(expected);
  if (Number.isNaN(wanted)) expect(actual).toBeNaN();
  else expect(Math.abs(actual - wanted) / Math.max(1, Math.abs(wanted))).toBeLessThanOrEqual(tolerance);
}

describe('learning rate schedules', () => {
  interface Case {
    readonly input: { readonly schedule: 'linear'; readonly step: number; readonly totalSteps: number; readonly learningRate: number };
    readonly expected: { readonly multiplier: number; readonly lr: number } | Failure;
  }

  it.each(readCookbookVectors<Case>('lr-schedule'))('%#', ({ input: { schedule, step, totalSteps, learningRate }, expected }) => {
    if ('error' in expected) {
      expect(() => lrMultiplier(schedule, step, totalSteps)).toThrow();
      return;
    }
    expectClose(lrMultiplier(schedule, step, totalSteps), expected.multiplier, 1e-12);
    expectClose(learningRate * lrMultiplier(schedule, step, totalSteps), expected.lr, 1e-12);
  });

  it('rises to 1 during the warm-up and covers the steps after it', () => {
    const rates = Array.from({ length: 6 }, (_, step) => lrMultiplier('linear', step, 6, 2));
    expect(rates.map((rate) => Number(rate.toFixed(4)))).toEqual([0.3333, 0.6667, 1, 0.75, 0.5, 0.25]);
  });
});

describe('mean NLL and bits per byte', () => {
  interface Case {
    readonly name: string;
    readonly input: { readonly logprobs: number[][]; readonly weights: number[][]; readonly targetTokens: number[][] };
    readonly expected: { readonly meanNll: number | string; readonly bpb: number | string };
  }

  it.each(readCookbookVectors<Case>('mean-nll-bpb'))('$name', ({ input, expected }) => {
    const scored = input.logprobs.map((logprobs, index) => ({
      logprobs,
      weights: input.weights[index] ?? [],
      targetTokens: input.targetTokens[index] ?? [],
    }));
    expectClose(meanNll(scored), expected.meanNll, 1e-5);
    expectClose(bitsPerByte(scored, tokenizer), expected.bpb, 1e-5);
  });
});

describe('the NLL evaluator', () => {
  interface Case {
    readonly input: { readonly data: unknown[]; readonly salt: number; readonly name: string; readonly withTokenizer: boolean };
    readonly expected: { readonly metrics: Record<string, number>; readonly sequencesAsked: number[][] };
  }

  it.each(readCookbookVectors<Case>('nll-evaluator'))('%#', async ({ input: { data, salt, name, withTokenizer }, expected }) => {
    const asked: number[][] = [];
    const client = {
      async computeLogprobs(prompt: ModelInput) {
        const tokens = Array.from(prompt.toInts());
        asked.push(tokens);
        return Float32Array.from(tokens, (token, i) => (i === 0 ? Number.NaN : -(((token * 7 + i * 13 + salt * 5) % 31) + 1) / 16));
      },
    };
    const decoded = data.map((json) => datumCodec.decode(json as never) as Datum);
    const evaluator = nllEvaluator(decoded, { name, tokenizer: withTokenizer ? tokenizer : undefined });
    const metrics = await evaluator.evaluate(client as never);
    expect(Object.keys(metrics)).toEqual(Object.keys(expected.metrics));
    for (const [key, value] of Object.entries(expected.metrics)) expectClose(metrics[key] as number, value, 1e-5);
    expect(asked).toEqual(expected.sequencesAsked);
    expect(evaluator.usage).toEqual({ prefillTokens: asked.flat().length, sampledTokens: asked.length });
  });
});

describe('batches', () => {
  interface Case {
    readonly name: string;
    readonly input: {
      readonly rows: number;
      readonly batchSize: number;
      readonly testSize: number;
      readonly shuffleSeed: number;
      readonly bufferSize: number;
    };
    readonly expected: {
      readonly epoch0: number[][];
      readonly epoch1_batches_0_and_2: number[][];
      readonly batches: number;
      readonly beforeSetEpoch: number[][];
      readonly byEpochSeed: Record<string, number[][]>;
      readonly numpyPermutationBySeed: Record<string, number[]>;
      readonly train: number[];
      readonly test: number[] | null;
    };
  }
  const cases = readCookbookVectors<Case>('batching');
  const named = (start: string) => cases.filter(({ name }) => name.startsWith(start));
  const datumOf = (id: number) => datum({ modelInput: ModelInput.fromInts([id]) });
  const idsOf = (data: readonly Datum[]) => data.map(({ modelInput }) => modelInput.toInts()[0]);
  const countUp = (length: number) => Array.from({ length }, (_, index) => index);

  it.each(named('map'))('%# have the order of the reference in each epoch', async ({ input: { rows, batchSize }, expected }) => {
    const options = { rows: countUp(rows), batchSize, toData: (row: number) => [datumOf(row)] };
    const all = async (shuffle: boolean, epoch: number) => {
      const dataset = rowDataset({ ...options, shuffle });
      expect(dataset.batchCount(epoch)).toBe(expected.batches);
      return Promise.all(countUp(expected.batches).map(async (index) => idsOf(await dataset.getBatch(epoch, index))));
    };
    expect(await all(false, 0)).toEqual(expected.beforeSetEpoch);
    for (const [seed, batches] of Object.entries(expected.byEpochSeed)) expect(await all(true, Number(seed))).toEqual(batches);
    for (const [seed, order] of Object.entries(expected.numpyPermutationBySeed)) {
      expect(Array.from(numpyPermutation(Number(seed), rows))).toEqual(order);
    }
  });

  it.each(named('flatmap'))('%# have all examples of their rows', async ({ input: { rows, batchSize }, expected }) => {
    const toData = (row: number) => [datumOf(row * 10), datumOf(row * 10 + 1)];
    const dataset = rowDataset({ rows: countUp(rows), batchSize, shuffle: false, toData });
    expect(dataset.batchCount(0)).toBe(expected.batches);
    expect([idsOf(await dataset.getBatch(0, 0)), idsOf(await dataset.getBatch(0, 1))]).toEqual(expected.beforeSetEpoch);
  });

  it.each(named('conversation file'))('%# the first rows of the shuffled file are the test set', ({ input, expected }) => {
    const { train, test } = splitConversations(countUp(input.rows), input);
    expect(train).toEqual(expected.train);
    expect(test ?? null).toEqual(expected.test);
  });

  it.each(named('streaming'))('%# of a stream are shuffled within its buffer, and only read forward', async ({ input, expected }) => {
    const { rows, batchSize, bufferSize } = input;
    let opened = 0;
    async function* open() {
      opened++;
      yield* countUp(rows);
    }
    const dataset = streamDataset({ open, length: rows, batchSize, bufferSize, shuffleSeed: 0, toData: (row) => [datumOf(row)] });
    const read = async (epoch: number, index: number) => idsOf(await dataset.getBatch(epoch, index));
    expect(dataset.batchCount(0)).toBe(expected.batches);
    expect([await read(0, 0), await read(0, 1), await read(0, 2)]).toEqual(expected.epoch0);
    expect([await read(1, 0), await read(1, 2)]).toEqual(expected.epoch1_batches_0_and_2);
    await expect(read(1, 1)).rejects.toThrow('only read forward');
    expect(opened).toBe(2);
  });

  it.each(named('neither or both of map and flatmap'))('%# one function makes the examples of a row, and it cannot be left out', () => {
    // The reference has two and refuses neither or both at run time. Here there is one, and the compiler refuses to go without.
    // @ts-expect-error toData is missing.
    const withoutData = () => rowDataset({ rows: [1], batchSize: 1 }).getBatch(0, 0);
    expect(withoutData).toThrow(TypeError);
  });

  it('need a size in rows or in tokens', () => {
    const options = { rows: [1], toData: () => [datumOf(1)] };
    expect(() => rowDataset(options)).toThrow('either batchSize or batchTokens');
    expect(() => rowDataset({ ...options, batchSize: 1, batchTokens: 1 })).toThrow('either batchSize or batchTokens');
    expect(() => rowDataset({ ...options, batchSize: 0 })).toThrow('from 1 up');
    expect(() => rowDataset({ ...options, batchTokens: 1 })).toThrow('rowTokens');
  });

  it('by tokens are as full as they can be and leave nothing out', async () => {
    const rowTokens = [5, 3, 9, 2, 2, 12, 1];
    const dataset = rowDataset({ rows: rowTokens, rowTokens, batchTokens: 10, shuffle: false, toData: (tokens) => [datumOf(tokens)] });
    const batches = await Promise.all(countUp(dataset.batchCount(0)).map(async (index) => idsOf(await dataset.getBatch(0, index))));
    expect(batches).toEqual([[5, 3], [9], [2, 2], [12], [1]]);
  });
});

describe('saves', () => {
  interface Case {
    readonly fn: string;
    readonly name: string;
    readonly input: {
      readonly steps: number;
      readonly tokensPerStep: number;
      readonly resumedTokens: number;
      readonly options: Record<string, number | null>;
    };
    readonly expected: { readonly calls: unknown[][]; readonly lines: Record<string, unknown>[] };
  }

  it.each(readCookbookVectors<Case>('checkpoints').filter(({ fn }) => fn === 'manager'))('$name', async ({ input, expected }) => {
    const { steps, tokensPerStep, resumedTokens, options } = input;
    const calls: unknown[][] = [];
    const lines: Record<string, unknown>[] = [];
    const save =
      (method: string, folder: string) =>
      (name: string, { ttlSeconds }: { ttlSeconds?: number | undefined } = {}) => {
        calls.push([method, name, ttlSeconds ?? null]);
        return Promise.resolve({ path: `tinker://run/${folder}/${name}` }) as never;
      };
    const checkpointer = new Checkpointer({
      training: { saveState: save('save_state', 'weights'), saveWeightsForSampler: save('save_weights_for_sampler', 'sampler_weights') },
      writer: {
        async appendCheckpoint({ name, batch, epoch, statePath, samplerPath, extra }) {
          lines.push({ name, batch, epoch, state_path: statePath, ...(samplerPath && { sampler_path: samplerPath }), ...extra });
        },
      },
      deleteCheckpoint: async (path) => calls.push(['delete', path]),
      onWarning: (message) => expect.fail(message),
      ttlSeconds: options.ttl_seconds,
      rollingTtlSeconds: options.rolling_ttl_seconds ?? undefined,
    });
    const policy = {
      saveEvery: options.save_every ?? undefined,
      saveEveryTokens: options.save_every_tokens ?? undefined,
      rollingSaveEvery: options.rolling_save_every ?? undefined,
    };
    let marks = { tokens: resumedTokens, elapsedMs: 0 };
    for (let step = 0; step < steps; step++) {
      const progress = { step, tokens: resumedTokens + (step + 1) * tokensPerStep, elapsedMs: 0 };
      const kind = dueSave(policy, marks, progress);
      if (kind === 'periodic') marks = progress;
      if (kind !== undefined)
        await checkpointer.record(checkpointer.submit(kind, checkpointName(step), { batch: step, epoch: 0, extra: {} }));
    }
    await checkpointer.record(checkpointer.submit('final', 'final', { batch: 0, epoch: 1, extra: {} }));
    expect(calls).toEqual(expected.calls);
    expect(lines).toEqual(expected.lines);
  });

  it('by time happen when enough seconds have passed since the last periodic one', () => {
    const at = (elapsedMs: number) => dueSave({ saveEverySeconds: 10 }, { tokens: 0, elapsedMs: 5_000 }, { step: 3, tokens: 0, elapsedMs });
    expect([at(14_999), at(15_000)]).toEqual([undefined, 'periodic']);
  });
});

describe('hyper-parameters', () => {
  type Answer = { readonly ok: number } | Failure;
  interface Case {
    readonly input: {
      readonly model: string;
      readonly lora_rank?: number;
      readonly train_mlp?: boolean;
      readonly train_attn?: boolean;
      readonly train_unembed?: boolean;
    };
    readonly expected: Answer & { readonly lrLora?: Answer; readonly lrFull?: Answer; readonly loraParamsRank32?: number | Failure };
  }

  function expectAnswer(compute: () => number, expected: Answer): void {
    if ('error' in expected) expect(compute).toThrow();
    else expectClose(compute() / expected.ok, 1, 1e-12);
  }

  it.each(readCookbookVectors<Case>('hyperparams'))('%# of $input.model', ({ input, expected }) => {
    const { model, lora_rank: rank, train_mlp: trainMlp, train_attn: trainAttn, train_unembed: trainUnembed } = input;
    const { lrLora, lrFull, loraParamsRank32 } = expected;
    if (lrLora !== undefined) expectAnswer(() => getLr(model), lrLora);
    if (lrFull !== undefined) expectAnswer(() => getLr(model, { isLora: false }), lrFull);
    if (loraParamsRank32 !== undefined) {
      const answer = typeof loraParamsRank32 === 'number' ? { ok: loraParamsRank32 } : loraParamsRank32;
      expectAnswer(() => getLoraParamCount(model, { rank: 32 }), answer);
    }
    if (lrLora === undefined) expectAnswer(() => getLoraParamCount(model, { rank, trainMlp, trainAttn, trainUnembed }), expected);
  });
});

describe('datums from weights', () => {
  interface Case {
    readonly name: string;
    readonly input: {
      readonly modelInput: { readonly chunks: unknown[] };
      readonly weights: number[];
      readonly maxLength: number | null;
      readonly reduction: 'none';
    };
    readonly expected: { readonly ok: unknown } | Failure;
  }

  it.each(readCookbookVectors<Case>('datum-from-weights'))('$name', ({ input, expected }) => {
    const { modelInput } = datumCodec.decode({ model_input: input.modelInput, loss_fn_inputs: {} } as never) as Datum;
    const make = () =>
      datumFromModelInputWeights(modelInput, input.weights, { maxLength: input.maxLength ?? undefined, reduction: input.reduction });
    if ('error' in expected) expect(make).toThrow();
    else expect(toPlain(make())).toEqual(toPlain(datumCodec.decode(expected.ok as never) as Datum));
  });

  function toPlain({ modelInput, lossFnInputs: { weights, targetTokens } }: Datum) {
    const rounded = weights?.toNumbers().map((weight) => Number(weight.toFixed(6)));
    return { chunks: modelInput.chunks, weights: rounded, targetTokens: targetTokens?.toNumbers() };
  }
});
