import type { Outcome, WorkResult } from '../measure/in-turns.js';

/** Prints the ratios of one work, and under it what each contender needed. */
export function printResult(result: WorkResult): void {
  console.log(`\n${result.title}   [${result.id}, ${result.rounds} rounds, load ${result.load.toFixed(1)}]`);
  console.table(rowsOf(result));
  for (const line of linesOf(result)) console.log(`  ${line}`);
}

/** Each comparison of a work in words. */
export function rowsOf({ outcomes, names }: WorkResult): Record<string, string>[] {
  return outcomes.map((outcome) => row(outcome, names));
}

/** What each contender needed, a line each. */
export function linesOf({ measured, names }: WorkResult): string[] {
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
    'half of all': `${short(value.low)} to ${short(value.high)}`,
    goal: goalText(outcome),
    met: outcome.isMet === undefined ? '' : outcome.isMet ? 'yes' : 'NO',
  };
}

/** Whether the value is how many times as much one needs as another. */
export function isRatio({ against, as }: Outcome): boolean {
  return as === 'ratio' || (against !== undefined && as !== 'difference');
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
