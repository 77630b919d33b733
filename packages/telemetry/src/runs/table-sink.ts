import type { Metrics, MetricsSink } from './metrics-sink.js';

/** Options of {@link tableSink}. */
export interface TableSinkOptions {
  /** Where the table is written. Default: standard error. */
  readonly write?: ((text: string) => void) | undefined;
}

/** Metrics that only make sense together with others. */
const HIDDEN = [':total', ':count'];
const DECIMALS = 6;

/** Prints a table of the metrics after each step: sorted by name, six decimals. */
export function tableSink({ write = (text) => process.stderr.write(text) }: TableSinkOptions = {}): MetricsSink {
  return { logMetrics: (metrics, step) => write(metricsTable(metrics, step)) };
}

/** The table that {@link tableSink} prints. */
export function metricsTable(metrics: Metrics, step: number): string {
  const rows = Object.entries(metrics)
    .filter(([name]) => !HIDDEN.some((ending) => name.endsWith(ending)))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => [name, Number.isInteger(value) ? String(value) : value.toFixed(DECIMALS)] as const);
  const nameWidth = Math.max(0, ...rows.map(([name]) => name.length));
  const valueWidth = Math.max(0, ...rows.map(([, value]) => value.length));
  return [`step ${step}`, ...rows.map(([name, value]) => `  ${name.padEnd(nameWidth)}  ${value.padStart(valueWidth)}`), ''].join('\n');
}
