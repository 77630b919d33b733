import type { MetricTable } from '../metrics/metric-table.js';

/** All metrics of a run as CSV: one row per step, one column per metric, empty where a step has no value. */
export function csvOf(metrics: MetricTable): string {
  const { names } = metrics;
  const rows = new Map<number, (number | '')[]>();
  names.forEach((name, column) => {
    const series = metrics.get(name);
    series?.steps.forEach((step, index) => {
      let row = rows.get(step);
      if (row === undefined) {
        row = new Array<number | ''>(names.length).fill('');
        rows.set(step, row);
      }
      row[column] = series.values[index] ?? '';
    });
  });
  const steps = [...rows.keys()].sort((a, b) => a - b);
  return [['step', ...names].map(quoted).join(','), ...steps.map((step) => [step, ...(rows.get(step) ?? [])].join(','))]
    .join('\n')
    .concat('\n');
}

/** Quotes what would break a row, and what a spreadsheet would take for a formula. */
function quoted(name: string): string {
  const safe = /^[=+\-@]/.test(name) ? `'${name}` : name;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
