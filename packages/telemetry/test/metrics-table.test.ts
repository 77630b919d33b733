import { describe, it } from 'vitest';
import { httpMetrics } from '../src/metrics/http-metrics.js';
import { operationMetrics } from '../src/metrics/operation-metrics.js';
import { Registry } from '../src/metrics/registry.js';
import { sessionMetrics } from '../src/metrics/session-metrics.js';
import { expectGuideTable } from './guide-table.js';

describe('the catalog of metrics', () => {
  it('is the table in the guide', () => {
    const registry = new Registry(1);
    for (const register of [httpMetrics, operationMetrics, sessionMetrics]) register(registry);
    const rows = registry.families.map(({ description: { name, kind, help, labelNames } }) => {
      const labels = labelNames.filter((label) => label !== 'base_url').map((label) => `\`${label}\``);
      return `| \`${name}\` | ${kind} | ${help} | ${labels.join(', ') || '–'} |`;
    });
    expectGuideTable('metrics', ['| metric | kind | meaning | other labels |', '|---|---|---|---|', ...rows]);
  });
});
