import type { BenchmarkResult, Outcome } from '../measure/run-benchmark.js';

/** Prints the ratios of one benchmark, and the measurements of each contender below. */
export function printResult(result: BenchmarkResult): void {
  console.log(`\n${result.title}   [${result.id}, ${result.rounds} rounds, load ${result.load.toFixed(1)}]`);
  console.table(rowsOf(result));
  for (const line of linesOf(result)) console.log(`  ${line}`);
}

/** One row per comparison of a benchmark. */
export function rowsOf({ outcomes, names }: BenchmarkResult): Record<string, string>[] {
  return outcomes.map((outcome) => row(outcome, names));
}

/** The measurements of the contenders, one line each. */
export function linesOf({ measured, names }: BenchmarkResult): string[] {
  return Object.entries(measured).map(([id, metrics]) => {
    const values = Object.entries(metrics).map(([metric, { median }]) => `${metric} ${short(median)}`);
    return `${names[id]}: ${values.join(', ')}`;
  });
}

function row(outcome: Outcome, names: Readonly<Record<string, string>>): Record<string, string> {
  const { metric, of, against, value, as } = outcome;
  const unit = isRatio(outcome) ? 'x' : '';
  return {
    what: `${metric} of ${names[of]}`,
    against: against === undefined ? '' : `${as === 'difference' ? 'minus ' : ''}${names[against]}`,
    median: `${short(value.median)}${unit}`,
    'interquartile range': `${short(value.low)} to ${short(value.high)}`,
    goal: goalText(outcome),
    met: outcome.isMet === undefined ? '' : outcome.isMet ? 'yes' : 'NO',
  };
}

/** Whether the value is a ratio: how many times as much as the other contender. */
export function isRatio({ against, as }: Outcome): boolean {
  return as === 'ratio' || (against !== undefined && as !== 'difference');
}

/** The goal as text. */
export function goalText({ goal }: Outcome): string {
  if (goal === undefined) return '';
  return 'atMost' in goal ? `<= ${short(goal.atMost)}` : `>= ${short(goal.atLeast)}`;
}

/** Three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '?';
  return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
