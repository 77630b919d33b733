import type { FamilyDescription } from './family.js';
import type { Labels } from './labels.js';
import type { DistributionSample, MetricsSnapshot, NumberSample } from './registry.js';

/**
 * The Prometheus text exposition format, version 0.0.4. Distributions are summaries with the quantiles 0.5, 0.95 and 0.99. Families
 * without a series are left out.
 */
export function prometheusText(descriptions: readonly FamilyDescription[], snapshot: MetricsSnapshot): string {
  const numbers = byName([...snapshot.counters, ...snapshot.gauges]);
  const distributions = byName(snapshot.distributions);
  let text = '';
  for (const { name, help, kind } of descriptions) {
    const lines =
      kind === 'summary'
        ? (distributions.get(name) ?? []).flatMap(summaryLines)
        : (numbers.get(name) ?? []).map((sample) => numberLine(sample));
    if (lines.length === 0) continue;
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n${lines.join('\n')}\n`;
  }
  return text;
}

function numberLine({ name, labels, value }: NumberSample): string {
  return `${name}${labelText(labels)} ${numberText(value)}`;
}

function summaryLines({ name, labels, p50, p95, p99, sum, count }: DistributionSample): string[] {
  return [
    `${name}${labelText({ ...labels, quantile: '0.5' })} ${numberText(p50)}`,
    `${name}${labelText({ ...labels, quantile: '0.95' })} ${numberText(p95)}`,
    `${name}${labelText({ ...labels, quantile: '0.99' })} ${numberText(p99)}`,
    `${name}_sum${labelText(labels)} ${numberText(sum)}`,
    `${name}_count${labelText(labels)} ${numberText(count)}`,
  ];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function byName<Sample extends { readonly name: string }>(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = groups.get(sample.name);
    if (group === undefined) groups.set(sample.name, [sample]);
    else group.push(sample);
  }
  return groups;
}
