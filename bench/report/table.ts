import type { Outcome, WorkResult } from '../measure/in-turns.js';
import type { Work } from '../measure/work.js';

/** Prints the ratios of one work, and under it what each contender needed. */
export function printResult(work: Work, result: WorkResult): void {
  console.log(`\n${result.title}   [${result.id}, ${result.rounds} rounds, load ${result.load.toFixed(1)}]`);
  const nameOf = (id: string): string => work.contenders[id]?.name ?? id;
  console.table(result.outcomes.map((outcome) => row(outcome, nameOf)));
  for (const [id, metrics] of Object.entries(result.measured)) {
    const values = Object.entries(metrics).map(([metric, { median }]) => `${metric} ${short(median)}`);
    console.log(`  ${nameOf(id)}: ${values.join(', ')}`);
  }
}

function row(outcome: Outcome, nameOf: (id: string) => string): Record<string, string> {
  const { metric, of, against, value, as } = outcome;
  const unit = against === undefined || as === 'difference' ? '' : 'x';
  return {
    what: `${metric} of ${nameOf(of)}`,
    against: against === undefined ? '' : `${as === 'difference' ? 'minus ' : ''}${nameOf(against)}`,
    median: `${short(value.median)}${unit}`,
    'half of all': `${short(value.low)} to ${short(value.high)}`,
    goal: goalText(outcome),
    met: outcome.isMet === undefined ? '' : outcome.isMet ? 'yes' : 'NO',
  };
}

/** A goal in words. */
export function goalText({ goal }: Outcome): string {
  if (goal === undefined) return '';
  return 'atMost' in goal ? `<= ${short(goal.atMost)}` : `>= ${short(goal.atLeast)}`;
}

/** Three digits that count. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '?';
  return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
