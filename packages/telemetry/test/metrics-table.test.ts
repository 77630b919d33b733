import { describe, it } from 'vitest';
import { httpMetrics } from '../src/metrics/http-metrics.js';
import { recoveryMetrics } from '../src/metrics/recovery-metrics.js';
import { Registry } from '../src/metrics/registry.js';
import { sessionMetrics } from '../src/metrics/session-metrics.js';
import { workMetrics } from '../src/metrics/work-metrics.js';
import { expectGuideTable } from './guide-table.js';

/** Notes what is registered. */
class NotingRegistry extends Registry {
  readonly rows: string[] = [];

  override counter<const Names extends readonly string[]>(name: string, help: string, labelNames: Names) {
    this.#note('counter', name, help, labelNames);
    return super.counter(name, help, labelNames);
  }

  override gauge<const Names extends readonly string[]>(name: string, help: string, labelNames: Names) {
    this.#note('gauge', name, help, labelNames);
    return super.gauge(name, help, labelNames);
  }

  override seconds<const Names extends readonly string[]>(name: string, help: string, labelNames: Names) {
    this.#note('distribution', name, help, labelNames);
    return super.seconds(name, help, labelNames);
  }

  override bytes<const Names extends readonly string[]>(name: string, help: string, labelNames: Names) {
    this.#note('distribution', name, help, labelNames);
    return super.bytes(name, help, labelNames);
  }

  #note(kind: string, name: string, help: string, labelNames: readonly string[]): void {
    const own = labelNames.filter((label) => label !== 'base_url').map((label) => `\`${label}\``);
    this.rows.push(`| \`${name}\` | ${kind} | ${help} | ${own.join(', ') || '–'} |`);
  }
}

describe('the catalogue of metrics', () => {
  it('is the table in the guide', () => {
    const registry = new NotingRegistry(1);
    for (const register of [httpMetrics, workMetrics, sessionMetrics, recoveryMetrics]) register(registry);
    expectGuideTable('metrics', ['| metric | kind | what it tells | labels of its own |', '|---|---|---|---|', ...registry.rows]);
  });
});
