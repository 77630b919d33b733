import type { Family, Labels } from './family.js';
import { HistogramSeries, type NumberSeries } from './series.js';

/** The Prometheus text exposition format, version 0.0.4. Families without a series are left out. */
export function prometheusText(families: readonly (Family<NumberSeries> | Family<HistogramSeries>)[]): string {
  let text = '';
  for (const family of families) {
    const { name, help, kind } = family.description;
    const lines = Array.from<readonly [Labels, NumberSeries | HistogramSeries], string[]>(family, ([labels, series]) =>
      series instanceof HistogramSeries ? histogramLines(name, labels, series) : [line(name, labels, series.value)],
    ).flat();
    if (lines.length > 0) text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n${lines.join('\n')}\n`;
  }
  return text;
}

function histogramLines(name: string, labels: Labels, series: HistogramSeries): string[] {
  const { buckets, count, sum } = series.read();
  return [
    ...buckets.map((bucket) => line(`${name}_bucket`, { ...labels, le: String(bucket.upTo) }, bucket.count)),
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}{${pairs.join(',')}} ${numberText(value)}`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

function escapeLabel(value: string): string {
  return escapeHelp(value).replaceAll('"', '\\"');
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
