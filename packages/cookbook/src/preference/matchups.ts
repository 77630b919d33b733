/** Which answers of a group are compared. */
export type MatchupPattern = 'all_pairs_both_ways' | 'all_pairs_one_way';

/** The pairs of a group of n answers, within blocks of `blockSize`. What is left over after the last full block plays only if it has a partner. */
export function matchups(n: number, pattern: MatchupPattern, blockSize: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let start = 0; start < n; start += blockSize) {
    const end = Math.min(start + blockSize, n);
    for (let first = start; first < end; first++) {
      for (let second = start; second < end; second++) {
        if (pattern === 'all_pairs_both_ways' ? first !== second : first < second) pairs.push([first, second]);
      }
    }
  }
  return pairs;
}

/** What the matches of a group say about one answer. */
export interface MatchupReward {
  readonly reward: number;
  readonly metrics: { readonly win_minus_loss: number; readonly format: number };
}

/**
 * Rewards from comparisons: wins minus losses per match, less 1 for an answer that did not end as it should. Matches run one after the other.
 *
 * @param compare - Above 0 when the second answer is better, below 0 when the first is.
 * @param isValid - Per answer, whether it ended with a stop sequence.
 */
export async function matchupRewards(
  isValid: readonly boolean[],
  compare: (first: number, second: number) => number | Promise<number>,
  {
    pattern = 'all_pairs_both_ways',
    blockSize = 4,
  }: { readonly pattern?: MatchupPattern | undefined; readonly blockSize?: number | undefined } = {},
): Promise<MatchupReward[]> {
  const sums = isValid.map(() => 0);
  const counts = isValid.map(() => 0);
  for (const [first, second] of matchups(isValid.length, pattern, blockSize)) {
    const result = await compare(first, second);
    sums[first] = (sums[first] as number) - result;
    sums[second] = (sums[second] as number) + result;
    for (const each of [first, second]) counts[each] = (counts[each] as number) + 1;
  }
  return isValid.map((valid, index) => {
    const count = counts[index] as number;
    const winMinusLoss = count === 0 ? 0 : (sums[index] as number) / count;
    return { reward: winMinusLoss + (valid ? 0 : -1), metrics: { win_minus_loss: winMinusLoss, format: valid ? 1 : 0 } };
  });
}

/** The share of wins and its standard error, from results of each comparison played both ways: above 0 when the answer is better. */
export function winRate(results: readonly (readonly [number, number])[]): { readonly winRate: number; readonly stderr: number } {
  const wins = results.map(([forward, swapped]) => (forward - swapped + 2) / 4);
  const mean = wins.reduce((sum, win) => sum + win, 0) / wins.length;
  const variance = wins.reduce((sum, win) => sum + (win - mean) ** 2, 0) / Math.max(1, wins.length - 1);
  return { winRate: mean, stderr: Math.sqrt(variance / wins.length) };
}
