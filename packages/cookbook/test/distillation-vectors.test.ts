import { type BatchDataset, demonstrationPrompt, mixDatasets, mixtureCounts, type RlDatum } from '@tinkex/cookbook';
import { type Datum, datum, ModelInput, type TensorData, TopkLogprobs } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { distillationRule } from '../src/distillation/distill-on-policy.js';
import { reverseKlLoss } from '../src/distillation/reverse-kl.js';
import { teacherAdvantages, teacherTargets } from '../src/distillation/self-teacher.js';
import { softTargetDatum } from '../src/distillation/soft-targets.js';
import { expectClose, type Failure, fakeScorer, toDatum } from './support/vector-values.js';

interface Case {
  readonly fn: string;
  readonly input: {
    readonly data: unknown[];
    readonly datum: unknown;
    readonly datasetIndex: number[];
    readonly teacherSalts: number[];
    readonly coef: number;
    readonly discount: number;
    readonly salt: number;
    readonly k: number;
    readonly short: boolean;
    readonly weights: number[];
    readonly batchSize: number;
    readonly datasetLengths: number[];
    readonly rowsPerBatch: number;
    readonly groupIdx: number[];
    readonly teacherPrompts: number[][];
    readonly maxContextLength: number;
    readonly topk: number;
    readonly vocabSize: number | null;
    readonly skipFirstNTokens: number;
    readonly logprobs: number[][][];
    readonly question: string;
    readonly goldenAnswer: string;
  };
  readonly expected: {
    readonly metrics: Record<string, number>;
    readonly advantages: number[][];
    readonly datum: unknown;
    readonly request: { readonly tokens: number[] }[];
    readonly requests: { readonly tokens: number[] }[];
    readonly teacherSequences: number[][];
    readonly data: unknown[];
    readonly loss: number;
    readonly gradients: number[][][];
  } & Partial<Failure> & { readonly ok?: { readonly counts: number[]; readonly length: number; readonly batch0: string[] } };
}

const cases = readCookbookVectors<Case>('distillation');
const of = (fn: string) => cases.filter((each) => each.fn === fn);

function toRlDatum(json: unknown, groupIndex = 0): RlDatum {
  const { modelInput, lossFnInputs } = toDatum(json);
  const { mask, ...inputs } = lossFnInputs as Record<string, TensorData>;
  return {
    datum: datum({ modelInput, lossFnInputs: inputs }),
    mask: (mask as TensorData).data as Float32Array,
    origin: { groupIndex, trajectoryIndex: 0 },
  };
}

/** The fake teacher of the vectors, by its rule for the likeliest tokens. */
function fakeTeacher(salt: number, { short = false }: { short?: boolean }, asked: number[][]) {
  return {
    sample({ prompt, topkPromptLogprobs: k = 0 }: { prompt: ModelInput; topkPromptLogprobs?: number }) {
      const tokens = Array.from(prompt.toInts());
      asked.push(tokens);
      const rows = tokens.map((token, i) =>
        i === 0
          ? null
          : Array.from(
              { length: short && i % 2 === 1 ? k - 1 : k },
              (_, j) => [((token + 3 * j) % 200) + 1, -0.25 * j - 0.1 * ((i + salt) % 4) - 0.05] as const,
            ),
      );
      return Promise.resolve({ topkPromptLogprobs: TopkLogprobs.fromList(rows) });
    },
  } as never;
}

function expectAll(actual: readonly number[], expected: readonly number[], tolerance = 1e-5): void {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of actual.entries()) expectClose(value, expected[index] as number, tolerance);
}

function expectMetrics(actual: Readonly<Record<string, number>> | undefined, expected: Record<string, number>): void {
  expect(Object.keys(actual ?? {}).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [name, value] of Object.entries(expected)) expectClose(actual?.[name] as number, value, 1e-5);
}

function expectDatum(actual: Datum | undefined, json: unknown): void {
  const expected = toDatum(json);
  expect(actual?.modelInput.chunks).toEqual(expected.modelInput.chunks);
  for (const name of ['targetTokens', 'weights'] as const) {
    expect(actual?.lossFnInputs[name]?.shape).toEqual(expected.lossFnInputs[name]?.shape);
    expectAll(actual?.lossFnInputs[name]?.toNumbers() ?? [], expected.lossFnInputs[name]?.toNumbers() ?? []);
  }
}

describe('on-policy distillation', () => {
  it.each(of('on_policy_kl'))('%# rewards what the teacher finds likelier', async ({ input, expected }) => {
    const data = input.data.map((json) => toRlDatum(json));
    const penalty = { coefficient: input.coef, discount: input.discount };
    const ruled = await distillationRule(
      data,
      input.datasetIndex,
      input.teacherSalts.map((salt) => fakeScorer(salt)),
      penalty,
    );
    expectMetrics(ruled.metrics, expected.metrics);
    for (const [
      index,
      {
        mask,
        datum: { lossFnInputs },
      },
    ] of ruled.data.entries()) {
      for (const [at, value] of (lossFnInputs.advantages?.toNumbers() ?? []).entries()) {
        // With a discount the reference also trains on the prompt.
        if (mask[at] === 0) expect(value).toBe(0);
        else expectClose(value, expected.advantages[index]?.[at] as number, 1e-5);
      }
    }
  });
});

describe('soft targets', () => {
  it.each(of('off_policy_topk'))("%# are the teacher's likeliest tokens", async ({ input: { datum: json, salt, k, short }, expected }) => {
    const asked: number[][] = [];
    expectDatum(await softTargetDatum(toDatum(json), fakeTeacher(salt, { short }, asked), k), expected.datum);
    expect(asked).toEqual(expected.request.map(({ tokens }) => tokens));
  });
});

describe('mixtures', () => {
  it.each(
    of('composite_counts').filter(
      ({ expected }) => expected.error !== undefined || (expected.ok?.counts.every((count) => count > 0) ?? false),
    ),
  )('%# take rows by weight', async ({ input: { weights, batchSize, datasetLengths, rowsPerBatch }, expected: { ok } }) => {
    if (ok === undefined) {
      expect(() => mixtureCounts(weights, batchSize)).toThrow('batchSize');
      return;
    }
    const datasets = datasetLengths.map((length, index) => {
      const dataset: BatchDataset<string> = {
        batchCount: () => length,
        getBatch: (_, batch) => Array.from({ length: rowsPerBatch }, (_row, row) => `${'abc'[index]}${batch}.${row}`),
      };
      return { dataset, weight: weights[index] as number };
    });
    const mixed = mixDatasets(datasets, batchSize);
    expect([mixtureCounts(weights, batchSize), mixed.batchCount(0)]).toEqual([ok.counts, ok.length]);
    expect(await mixed.getBatch(0, 0)).toEqual(ok.batch0);
  });

  it('never take a negative number of rows (the reference does)', () => {
    expect(mixtureCounts([100, 1], 4)).toEqual([3, 1]);
    expect(mixtureCounts([100, 1, 1], 3)).toEqual([1, 1, 1]);
    expect(mixtureCounts([1, 1, 1, 1], 5)).toEqual([1, 1, 1, 2]);
  });
});

describe('self-distillation', () => {
  const promptsOf = ({ groupIdx, teacherPrompts }: Case['input']) =>
    groupIdx.map((group) => ModelInput.fromInts(teacherPrompts[group] as number[]));

  it.each(of('sdft_advantages'))('%# by advantages', async ({ input, expected }) => {
    const asked: number[][] = [];
    const { data, metrics } = await teacherAdvantages(
      input.data.map((json) => toRlDatum(json)),
      fakeScorer(input.salt, asked),
      {
        teacherPrompts: promptsOf(input),
        maxContextLength: input.maxContextLength,
      },
    );
    expectMetrics(metrics, expected.metrics);
    for (const [
      index,
      {
        datum: { lossFnInputs },
      },
    ] of data.entries())
      expectAll(lossFnInputs.advantages?.toNumbers() ?? [], expected.advantages[index] ?? []);
    expect(asked).toEqual(expected.teacherSequences);
  });

  it.each([...of('sdft_topk_datums'), ...of('sdft_reverse_kl_datums')])('%# by likely tokens', async ({ fn, input, expected }) => {
    const asked: number[][] = [];
    const { topk, skipFirstNTokens, vocabSize, maxContextLength } = input;
    const entropyOver = fn === 'sdft_topk_datums' ? 'tokens' : 'positions';
    const options = {
      teacherPrompts: promptsOf(input),
      maxContextLength,
      topk,
      skipFirstNTokens,
      vocabSize: vocabSize ?? undefined,
      entropyOver,
    } as const;
    const { data, metrics } = await teacherTargets(
      input.data.map((json) => toRlDatum(json)),
      fakeTeacher(input.salt, {}, asked),
      options,
    );
    expectMetrics(metrics, expected.metrics);
    for (const [index, each] of data.entries()) expectDatum(each.datum, expected.data[index]);
    expect(asked).toEqual(expected.requests.map(({ tokens }) => tokens));
  });

  it.each(of('reverse_kl_custom_loss'))('%# by reverse KL', ({ input, expected }) => {
    const { loss, metrics, gradients } = reverseKlLoss(
      input.data.map(toDatum),
      input.logprobs.map((rows) => rows.flat()),
    );
    expectClose(loss, expected.loss, 1e-5);
    expectMetrics(metrics, expected.metrics);
    for (const [index, gradient] of gradients.entries()) expectAll(Array.from(gradient), expected.gradients[index]?.flat() ?? []);
  });

  it.each(of('sdft_demo_template'))('%# asks the teacher with an example', ({ input: { question, goldenAnswer: answer }, expected }) => {
    expect(demonstrationPrompt({ question, answer })).toBe(expected);
  });
});
