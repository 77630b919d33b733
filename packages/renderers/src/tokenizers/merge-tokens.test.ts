import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MergeTable, NO_RANK } from './merge-table.js';
import { TokenMerger } from './merge-tokens.js';

/** The definition: again and again the pair with the lowest rank, of several the leftmost. */
function mergeNaively(ids: readonly number[], ranks: ReadonlyMap<string, number>, mergedIds: readonly number[]): number[] {
  const left = [...ids];
  for (;;) {
    let best = NO_RANK;
    let place = -1;
    for (let index = 0; index + 1 < left.length; index += 1) {
      const rank = ranks.get(`${left[index]} ${left[index + 1]}`) ?? NO_RANK;
      if (rank < best) [best, place] = [rank, index];
    }
    if (place < 0) return left;
    left.splice(place, 2, mergedIds[best] as number);
  }
}

describe('TokenMerger', () => {
  it('merges as the definition says, for any table and any tokens', () => {
    const pair = fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9));
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 30 }), fc.array(fc.nat(5), { maxLength: 80 }), (pairs, ids) => {
        const ranks = new Map<string, number>();
        const table = new MergeTable(pairs.length);
        pairs.forEach(([left, right], rank) => {
          if (!ranks.has(`${left} ${right}`)) ranks.set(`${left} ${right}`, rank);
          table.add(left, right, rank);
        });
        const mergedIds = pairs.map(([, , merged]) => merged);
        const array = Int32Array.from(ids);
        const length = new TokenMerger(table, mergedIds, array.length).merge(array, array.length);
        expect(Array.from(array.subarray(0, length))).toEqual(mergeNaively(ids, ranks, mergedIds));
      }),
      { numRuns: 2_000 },
    );
  });

  it('prefers the leftmost of pairs with the same rank, also when several pairs share it', () => {
    const table = new MergeTable(2);
    table.add(1, 2, 0);
    table.add(2, 3, 0);
    const ids = Int32Array.of(1, 2, 3);
    expect(new TokenMerger(table, [9], 3).merge(ids, 3)).toBe(2);
    expect(Array.from(ids.subarray(0, 2))).toEqual([9, 3]);
  });

  it('merges a run of 300,000 equal tokens', () => {
    const table = new MergeTable(2);
    table.add(1, 1, 0);
    table.add(2, 2, 1);
    const ids = new Int32Array(300_000).fill(1);
    expect(new TokenMerger(table, [2, 3], ids.length).merge(ids, ids.length)).toBe(75_000);
    expect(new Set(ids.subarray(0, 75_000))).toEqual(new Set([3]));
  });
});
