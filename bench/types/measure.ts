/** One thing to time. */
export interface Contender {
  readonly name: string;
  readonly run: () => unknown;
}

/** The median CPU time of a contender, and its ratio to the first one. */
export interface Timing {
  readonly name: string;
  /** CPU time (user and system) of one run. Wall time would count what other processes do. */
  readonly medianMs: number;
  readonly ratio: number;
  /** The ratio of the best runs, which a busy machine disturbs least. */
  readonly bestRatio: number;
}

/**
 * Times contenders in turns, so that a noisy machine disturbs all of them alike, and compares medians with the first. Garbage is
 * collected when the engine likes, as in a real program.
 */
export function compare(
  contenders: readonly Contender[],
  { rounds = 31, warmup = 10 }: { rounds?: number; warmup?: number } = {},
): Timing[] {
  const times = contenders.map((): number[] => []);
  for (let round = -warmup; round < rounds; round += 1) {
    for (const [index, { run }] of contenders.entries()) {
      const start = process.cpuUsage();
      const result = run();
      const { user, system } = process.cpuUsage(start);
      const elapsed = (user + system) / 1000;
      if (result === undefined) throw new Error('a contender must return what it made, or it may be optimised away');
      if (round >= 0) times[index]?.push(elapsed);
    }
  }
  const medians = times.map(median);
  const best = times.map((values) => Math.min(...values));
  return contenders.map(({ name }, index) => ({
    name,
    medianMs: medians[index] ?? 0,
    ratio: (medians[index] ?? 0) / (medians[0] ?? 1),
    bestRatio: (best[index] ?? 0) / (best[0] ?? 1),
  }));
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Prints timings as a table and as a line of JSON. */
export function report(title: string, timings: readonly Timing[], goal?: string): void {
  console.log(`\n${title}${goal === undefined ? '' : ` (goal: ${goal})`}`);
  console.table(
    timings.map(({ name, medianMs, ratio, bestRatio }) => ({
      name,
      'median CPU ms': medianMs.toFixed(3),
      ratio: ratio.toFixed(2),
      'ratio of the best': bestRatio.toFixed(2),
    })),
  );
  console.log(JSON.stringify({ title, goal, timings }));
}
