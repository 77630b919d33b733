import { loadavg } from 'node:os';
import type { CannedServer } from '../server/start-server.js';
import type { Measurements } from './program.js';
import { type Spread, spreadOf } from './statistics.js';
import type { Comparison, Work } from './work.js';

/** A comparison with its outcome. */
export interface Outcome extends Comparison {
  readonly value: Spread;
  readonly isMet: boolean | undefined;
}

/** Everything that is known about a work after its rounds. */
export interface WorkResult {
  readonly id: string;
  readonly title: string;
  readonly rounds: number;
  /** One-minute load average of the machine at the end: above the number of cores, others were at work too. */
  readonly load: number;
  /** The contenders' names by their ids. */
  readonly names: Readonly<Record<string, string>>;
  readonly measured: Readonly<Record<string, Readonly<Record<string, Spread>>>>;
  readonly outcomes: readonly Outcome[];
}

/**
 * Lets the contenders do their work in turns, `rounds` times, forwards and backwards, so that a slow moment of the machine strikes all alike. A ratio is
 * taken within each round; what counts is the median of the ratios.
 */
export async function inTurns(work: Work, rounds: number, server: CannedServer): Promise<WorkResult> {
  const ids = Object.keys(work.contenders);
  const taken: Record<string, Measurements>[] = [];
  const total = Math.min(rounds, work.maxRounds ?? rounds);
  for (let round = 0; round < total; round += 1) {
    const measured: Record<string, Measurements> = {};
    for (const id of round % 2 === 0 ? ids : [...ids].reverse()) {
      await server.release();
      await work.prepare?.();
      const before = await server.cpuMs();
      const own = (await work.contenders[id]?.run()) ?? {};
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
  const outcomes = work.comparisons
    .filter(({ of, against }) => ids.includes(of) && ids.includes(against ?? of))
    .map((one) => outcome(one, taken));
  const names = Object.fromEntries(ids.map((id) => [id, work.contenders[id]?.name ?? id]));
  return { id: work.id, title: work.title, rounds: total, load: loadavg()[0] ?? 0, names, measured: spreads, outcomes };
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
