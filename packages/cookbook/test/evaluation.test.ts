import {
  evaluate,
  exactMatch,
  extractBoxed,
  generationEvaluator,
  llmJudge,
  mathAnswer,
  meanPassAtK,
  normalizeAnswer,
  passAtK,
  passAtKValues,
  problem,
  rolloutEvaluator,
} from '@tinkex/cookbook';
import { getRenderer, type Sampler } from '@tinkex/renderers';
import { ByteTokenizer } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { rig } from './support/rig.js';
import { expectClose, type Failure } from './support/vector-values.js';

const setup = rig();
const bytes = new ByteTokenizer();
const tokenizer = {
  encode: (text: string) => Array.from(bytes.encode(text)),
  decode: (ids: ArrayLike<number>) => bytes.decode(Array.from(ids)),
  tokenId: () => undefined,
};
const renderer = getRenderer('role_colon', tokenizer as never);

/** A sampler that answers in turn. */
function scripted(answers: readonly string[], asked: string[] = []): Sampler {
  let call = 0;
  return {
    async sample({ prompt, numSamples = 1 }: { prompt: { toInts(): Int32Array }; numSamples?: number }) {
      asked.push(bytes.decode(Array.from(prompt.toInts())));
      const sequences = Array.from({ length: numSamples }, () => {
        const tokens = Int32Array.from(bytes.encode(` ${answers[call++ % answers.length]}\n\nUser:`));
        return { tokens, stopReason: 'stop' as const };
      });
      return { sequences, promptCacheHitTokens: 0 };
    },
  } as unknown as Sampler;
}

describe('math answers', () => {
  interface Case {
    readonly fn: string;
    readonly input: string;
    readonly expected: { readonly ok: string } | Failure;
  }

  it.each(readCookbookVectors<Case>('math-answers'))('$fn $input', ({ fn, input, expected }) => {
    const actual = fn === 'extract_boxed' ? extractBoxed(input) : normalizeAnswer(input);
    expect(actual).toBe('ok' in expected ? expected.ok : undefined);
  });
});

describe('pass@k', () => {
  interface Case {
    readonly fn: string;
    readonly input: number & {
      readonly n: number;
      readonly c: number;
      readonly k: number;
      readonly rewards: Record<string, number[]>;
      readonly ks: number[];
    };
    readonly expected: number & Record<string, number>;
  }

  it.each(readCookbookVectors<Case>('pass-at-k'))('%# $fn', ({ fn, input, expected }) => {
    if (fn === 'pass_at_k') expectClose(passAtK(input.n, input.c, input.k), expected, 1e-12);
    else if (fn === 'k_values') expect(passAtKValues(input)).toEqual(expected);
    else for (const k of input.ks) expectClose(meanPassAtK(Object.values(input.rewards), k), expected[String(k)] as number, 1e-12);
  });
});

describe('evaluators', () => {
  const sums = [
    { question: '1+1?', answer: '2' },
    { question: '1+2?', answer: '3' },
  ];

  it('answer and grade', async () => {
    const asked: string[] = [];
    const evaluator = generationEvaluator(sums, { renderer, grade: exactMatch, maxTokens: 8 });
    const metrics = await evaluator.evaluate(scripted(['2', '7'], asked) as never);
    expect(metrics).toEqual({ 'test/score': 0.5, 'test/format': 1 });
    expect(asked[0]).toContain('1+1?');
    expect(evaluator.usage).toMatchObject({ sampledTokens: 16 });
  });

  it('measure pass@k with several answers', async () => {
    const evaluator = generationEvaluator(sums, { renderer, grade: mathAnswer, maxTokens: 8, numSamples: 2, name: 'math' });
    const metrics = await evaluator.evaluate(scripted(['\\boxed{2}', 'no idea', 'no', '\\boxed{4}']) as never);
    expect(metrics).toMatchObject({ 'math/score': 0.25, 'math/pass_at_1': 0.25, 'math/pass_at_2': 0.5 });
  });

  it('ask a judge', async () => {
    const asked: string[] = [];
    const judge = llmJudge({ sampler: scripted(['Good. Score: 0.5', 'Hm.'], asked), renderer, rubric: 'Be short.' });
    const evaluator = generationEvaluator(sums, { renderer, grade: judge, maxTokens: 8, maxConcurrency: 1 });
    expect(await evaluator.evaluate(scripted(['2', '3']) as never)).toMatchObject({ 'test/score': 0.25 });
    expect(asked[0]).toMatch(/Question:\n1\+1\?.*Reference answer:\n2.*Answer:\n2.*Rubric:\nBe short\./s);
  });

  it('run without training, on a base model', async () => {
    const service = setup.connect();
    const tasks = [problem({ question: 'Say a letter', grade: () => true })];
    const evaluators = [
      rolloutEvaluator(tasks, { renderer, maxTokens: 2, groupSize: 3 }),
      generationEvaluator(sums, { renderer, grade: () => 1, maxTokens: 2 }),
    ];
    const metrics = await evaluate(service, { baseModel: 'tinkex/tiny' }, evaluators);
    expect(metrics).toMatchObject({ 'test/env/all/total_episodes': 3, 'test/env/all/correct': 1, 'test/score': 1 });
  });
});
