import { loadavg } from 'node:os';
import type { CannedServer } from '../server/start-server.js';
import type { Benchmark, Comparison } from './benchmark.js';
import type { Measurements } from './program.js';
import { type Spread, spreadOf } from './statistics.js';

/** A comparison with its outcome. */
export interface Outcome extends Comparison {
  readonly value: Spread;
  readonly isMet: boolean | undefined;
}

/** The result of a benchmark after all rounds. */
export interface BenchmarkResult {
  readonly id: string;
  readonly title: string;
  readonly rounds: number;
  /** One-minute load average at the end. Above the number of cores, other processes were busy too. */
  readonly load: number;
  /** The contenders' names by their IDs. */
  readonly names: Readonly<Record<string, string>>;
  readonly measured: Readonly<Record<string, Readonly<Record<string, Spread>>>>;
  readonly outcomes: readonly Outcome[];
}

/**
 * Runs the contenders in turns, `rounds` times, forwards and backwards, so that a slow moment of the machine affects all of them alike. Each round gives
 * one ratio; the result is the median of the ratios.
 */
export async function runBenchmark(benchmark: Benchmark, rounds: number, server: CannedServer): Promise<BenchmarkResult> {
  const ids = Object.keys(benchmark.contenders);
  const taken: Record<string, Measurements>[] = [];
  const total = Math.min(rounds, benchmark.maxRounds ?? rounds);
  for (let round = 0; round < total; round += 1) {
    const measured: Record<string, Measurements> = {};
    for (const id of round % 2 === 0 ? ids : [...ids].reverse()) {
      await server.release();
      await benchmark.prepare?.();
      const before = await server.cpuMs();
      const own = (await benchmark.contenders[id]?.run()) ?? {};
      measured[id] = { ...own, serverCpuMs: (await server.cpuMs()) - before };
    }
    taken.push(measured);
  }
  const [first = {}] = taken;
  const spreads = Object.fromEntries(
    ids.map((id) => {
      const metrics = Object.keys(first[id] ?? {});
      return [id, Object.fromEntries(metrics.map((metric) => [metric, spreadOf(taken.map((round) => round[id]?.[metric] ?? Number.NaN))]))];
    }),
  );
  const outcomes = benchmark.comparisons
    .filter(({ of, against }) => ids.includes(of) && ids.includes(against ?? of))
    .map((one) => outcome(one, taken));
  const names = Object.fromEntries(ids.map((id) => [id, benchmark.contenders[id]?.name ?? id]));
  return { id: benchmark.id, title: benchmark.title, rounds: total, load: loadavg()[0] ?? 0, names, measured: spreads, outcomes };
}

function outcome(comparison: Comparison, rounds: readonly Record<string, Measurements>[]): Outcome {
  const { metric, of, against, as, goal } = comparison;
  const value = spreadOf(
    rounds.map((round) => {
      const own = round[of]?.[metric] ?? Number.NaN;
      if (against === undefined) return own;
      const other = round[against]?.[metric] ?? Number.NaN;
      return as === 'difference' ? own - other : own / other;
    }),
  );
  if (goal === undefined) return { ...comparison, value, isMet: undefined };
  return { ...comparison, value, isMet: 'atMost' in goal ? value.median <= goal.atMost : value.median >= goal.atLeast };
}
