import { colorizeDatum, colorizeTokens, type EnvGroup, interleaveTasks } from '@tinkex/cookbook';
import { ByteTokenizer } from '@tinkex/types';
import { datumCodec } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';

describe('examples in a terminal', () => {
  type Case =
    | {
        readonly fn: 'format_colorized';
        readonly input: { readonly tokens: number[]; readonly weights: number[] };
        readonly expected: { readonly plain: string; readonly arrows: string } | { readonly error: string };
      }
    | { readonly fn: 'colorize_example'; readonly input: never; readonly expected: string };
  const tokenizer = new ByteTokenizer();

  it.each(readCookbookVectors<Case>('display'))('$fn %#', ({ fn, input, expected }) => {
    if (fn === 'colorize_example') {
      expect(colorizeDatum(datumCodec.decode(input), tokenizer)).toBe(expected);
      return;
    }
    const colorize = (arrows: boolean) => colorizeTokens(input.tokens, input.weights, tokenizer, { arrows });
    if ('error' in expected) {
      expect(() => colorize(false)).toThrow(RangeError);
      return;
    }
    expect(colorize(false)).toBe(expected.plain);
    expect(colorize(true)).toBe(expected.arrows);
  });
});

describe('tasks of several sources', () => {
  interface Case {
    readonly input: {
      readonly sources: readonly { readonly name: string; readonly groups: number }[];
      readonly weights: readonly number[];
      readonly groupsPerBatch: number;
      readonly totalBatches: number | null;
      readonly seed: number;
    };
    readonly expected: { readonly batches: number; readonly groups: readonly (readonly string[])[] };
  }
  const tasksOf = (name: string, count: number): EnvGroup[] =>
    Array.from({ length: count }, (_, index) => ({ tags: [`${name}${index}`], makeEnvs: () => [] }));
  const nameOf = ({ tags = [] }: EnvGroup): string => tags[0] as string;

  // The order is that of another generator; the number of batches, the cycles without repeats and the shares bind.
  it.each(readCookbookVectors<Case>('interleaved-rl'))(
    'are drawn by weight, none twice before all had their turn %#',
    async ({ input, expected }) => {
      const { sources, weights, groupsPerBatch, totalBatches, seed } = input;
      const mixed = interleaveTasks(
        sources.map(({ name, groups }, index) => ({ tasks: tasksOf(name, groups), weight: weights[index] })),
        { groupsPerBatch, seed, ...(totalBatches === null ? {} : { totalBatches }) },
      );
      expect(mixed.batchCount(0)).toBe(expected.batches);
      const drawn: string[] = [];
      for (let epoch = 0; epoch < 100; epoch++)
        for (let index = 0; index < expected.batches; index++) {
          const batch = await mixed.getBatch(epoch, index);
          expect(batch).toHaveLength(expected.groups[0]?.length as number);
          drawn.push(...batch.map(nameOf));
        }
      const sum = weights.reduce((total, weight) => total + weight, 0);
      sources.forEach(({ name, groups }, index) => {
        const own = drawn.filter((each) => each.startsWith(name));
        expect(own.length / drawn.length).toBeCloseTo((weights[index] as number) / sum, 1);
        for (let begin = 0; begin + groups <= own.length; begin += groups)
          expect(new Set(own.slice(begin, begin + groups)).size).toBe(groups);
      });
    },
  );

  it('are the same at an index, whichever batches came before', async () => {
    const make = () => interleaveTasks([{ tasks: tasksOf('a', 5) }, { tasks: tasksOf('b', 9), weight: 2 }], { groupsPerBatch: 3, seed: 4 });
    const whole = make();
    const batches = await Promise.all([0, 1, 2].map((index) => whole.getBatch(1, index)));
    expect((await make().getBatch(1, 2)).map(nameOf)).toEqual(batches[2]?.map(nameOf));
  });

  it('are refused without tasks or weights', () => {
    expect(() => interleaveTasks([], { groupsPerBatch: 1 })).toThrow('needs tasks');
    expect(() => interleaveTasks([{ tasks: tasksOf('a', 1), weight: -1 }], { groupsPerBatch: 1 })).toThrow('weights');
    expect(() => interleaveTasks([{ tasks: tasksOf('a', 1) }, { tasks: [] }], { groupsPerBatch: 1 })).toThrow('no tasks');
  });
});
