import {
  comparisonMessages,
  dpoLoss,
  type MatchupPattern,
  matchupRewards,
  type PreferenceLabel,
  preferenceDatum,
  swapComparison,
  winRate,
} from '@tinkex/cookbook';
import { getRenderer, type Message, toRendererTokenizer } from '@tinkex/renderers';
import { ByteTokenizer } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { cutAfterFirstTarget } from '../src/preference/comparison.js';
import { dpoCustomLoss } from '../src/preference/dpo-loss.js';
import { matchups } from '../src/preference/matchups.js';
import { scoreTargets } from '../src/rl/kl.js';
import { expectClose, fakeScorer, toDatum } from './support/vector-values.js';

function expectMetrics(actual: Readonly<Record<string, number>> | undefined, expected: Record<string, number>, tolerance: number): void {
  for (const [name, value] of Object.entries(expected)) expectClose(actual?.[name] as number, value, tolerance);
}

describe('the DPO loss', () => {
  interface LossCase {
    readonly input: {
      readonly chosen: number[];
      readonly rejected: number[];
      readonly chosenRef: number[];
      readonly rejectedRef: number[];
      readonly beta: number;
    };
    readonly expected: { readonly loss: number; readonly metrics: Record<string, number> };
  }

  it.each(readCookbookVectors<LossCase>('dpo-loss'))(
    '%# of sums',
    ({ input: { chosen, rejected, chosenRef: chosenReference, rejectedRef: rejectedReference, beta }, expected }) => {
      const { loss, metrics } = dpoLoss({ chosen, rejected, chosenReference, rejectedReference }, beta);
      expectClose(loss, expected.loss, 1e-5);
      expect(Object.keys(metrics)).toEqual(Object.keys(expected.metrics));
      expectMetrics(metrics, expected.metrics, 1e-5);
    },
  );

  interface UpdateCase {
    readonly name: string;
    readonly input: {
      readonly data: unknown[];
      readonly beta: number;
      readonly referenceSalt: number;
      readonly policyLogprobs: number[][];
    };
    readonly expected: {
      readonly loss: number;
      readonly metrics: Record<string, number> | { readonly metrics: Record<string, number> };
      readonly gradients: number[][];
      readonly referenceSequences: number[][];
    };
  }

  it.each(readCookbookVectors<UpdateCase>('dpo'))('$name has the gradients of autograd', async ({ input, expected }) => {
    const all = input.data.map(toDatum);
    const data = all.slice(0, all.length - (all.length % 2));
    const asked: number[][] = [];
    const references = await scoreTargets(
      data.map((datum) => ({ datum })),
      fakeScorer(input.referenceSalt, asked),
    );
    expect(asked).toEqual(expected.referenceSequences);
    const { loss, metrics, gradients } = dpoCustomLoss(data, input.policyLogprobs, references, input.beta);
    expectClose(loss, expected.loss, 1e-5);
    for (const name of ['dpo_loss', 'accuracy', 'margin', 'chosen_reward', 'rejected_reward']) {
      expectClose(metrics?.[name] as number, (expected.metrics as Record<string, number>)[name] as number, 1e-5);
    }
    for (const [index, gradient] of gradients.entries()) {
      for (const [at, value] of Array.from(gradient).entries()) expectClose(value, expected.gradients[index]?.[at] as number, 1e-5);
    }
  });
});

describe('preferences', () => {
  interface Case {
    readonly fn: string;
    readonly input: {
      readonly n: number;
      readonly pattern: MatchupPattern;
      readonly chunkSize: number;
      readonly matchupGroupSize: number;
      readonly scores: number[];
      readonly valid: boolean[];
      readonly forwardAndSwapped: [number, number][];
      readonly promptConversation: Message[];
      readonly completionA: Message[];
      readonly completionB: Message[];
    };
    readonly expected: unknown;
  }
  const cases = readCookbookVectors<Case>('preference');
  const of = (fn: string) => cases.filter((each) => each.fn === fn);

  it.each(of('pairs'))('%# pair answers within blocks', ({ input: { n, pattern, chunkSize }, expected }) => {
    expect(matchups(n, pattern, chunkSize)).toEqual(expected);
  });

  it.each(of('group_rewards'))('%# give rewards', async ({ input: { scores, valid, pattern, matchupGroupSize: blockSize }, expected }) => {
    const rewards = await matchupRewards(valid, (first, second) => Math.sign((scores[second] as number) - (scores[first] as number)), {
      pattern,
      blockSize,
    });
    for (const [index, { reward, metrics }] of (
      expected as { reward: number; metrics: { win_minus_loss: number; format: boolean } }[]
    ).entries()) {
      expectClose(rewards[index]?.reward as number, reward, 1e-9);
      expectClose(rewards[index]?.metrics.win_minus_loss as number, metrics.win_minus_loss, 1e-9);
      expect(rewards[index]?.metrics.format).toBe(Number(metrics.format));
    }
  });

  it.each(of('win_rate'))('%# give a win rate', ({ input: { forwardAndSwapped }, expected }) => {
    const { winRate: rate, stderr } = winRate(forwardAndSwapped);
    expectMetrics({ win_rate: rate, stderr }, expected as Record<string, number>, 1e-9);
  });

  it.each(of('comparison_to_conversation'))(
    '%# are announced to a preference model',
    ({ input: { promptConversation: prompt, completionA, completionB }, expected }) => {
      const comparison = { prompt, completionA, completionB };
      expect(comparisonMessages(comparison)).toEqual(expected);
      expect(swapComparison({ comparison, label: 'A' })).toEqual({
        comparison: { prompt, completionA: completionB, completionB: completionA },
        label: 'B',
      });
    },
  );

  it.each(of('swap'))('%# are swapped with their label', ({ input, expected }) => {
    const message = (content: string): Message[] => [{ role: 'assistant', content }];
    const { label } = input as unknown as { label: PreferenceLabel };
    const swapped = swapComparison({ comparison: { prompt: [], completionA: message('one'), completionB: message('two') }, label });
    const { completionA, completionB } = swapped.comparison;
    expect({ label: swapped.label, completionA, completionB }).toEqual(expected);
  });

  it.each(of('label_tokens_cut'))('%# end with the first token of the label', ({ input, expected }) => {
    const { tokens, weights } = input as unknown as { tokens: number[]; weights: number[] };
    expect(cutAfterFirstTarget(tokens, weights)).toEqual(expected);
  });

  it('train a preference model on one token, that of the label', () => {
    const tokenizer = toRendererTokenizer(new ByteTokenizer());
    const say = (content: string): Message[] => [{ role: 'assistant', content }];
    const comparison = { prompt: [{ role: 'user', content: 'q' }], completionA: say('one'), completionB: say('two') };
    const { lossFnInputs } = preferenceDatum({ comparison, label: 'Tie' }, getRenderer('role_colon', tokenizer));
    const weights = lossFnInputs.weights?.toNumbers() ?? [];
    expect(weights.filter((weight) => weight > 0)).toEqual([1]);
    expect(weights.at(-1)).toBe(1);
  });
});
