import { Family, type FamilyDescription, type SeriesBudget } from './family.js';
import { type Labels, matches } from './labels.js';
import { prometheusText } from './prometheus-text.js';
import { DistributionSeries, type DistributionSummary, NumberSeries } from './series.js';

/** One number of a snapshot. */
export interface NumberSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** One distribution of a snapshot, in the unit its name ends with. */
export interface DistributionSample extends DistributionSummary {
  readonly name: string;
  readonly labels: Labels;
}

/** All metrics at one moment: plain data, safe to serialise. */
export interface MetricsSnapshot {
  readonly counters: readonly NumberSample[];
  readonly gauges: readonly NumberSample[];
  readonly distributions: readonly DistributionSample[];
  /** Records that were counted under the label value `other` because there were too many series. */
  readonly overflowed: number;
}

/** Holds families, bounded in the number of series. */
export class Registry {
  readonly #numbers: Family<NumberSeries>[] = [];
  readonly #distributions: Family<DistributionSeries>[] = [];
  readonly #budget: SeriesBudget;

  constructor(maxSeries: number) {
    this.#budget = { remaining: maxSeries, overflowed: 0 };
  }

  counter<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<NumberSeries, Names> {
    return this.#number({ name, help, kind: 'counter', labelNames });
  }

  gauge<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<NumberSeries, Names> {
    return this.#number({ name, help, kind: 'gauge', labelNames });
  }

  /** Seconds, recorded to the microsecond. */
  seconds<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<DistributionSeries, Names> {
    return this.#distribution({ name, help, kind: 'summary', labelNames }, 1_000_000);
  }

  bytes<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<DistributionSeries, Names> {
    return this.#distribution({ name, help, kind: 'summary', labelNames }, 1);
  }

  /** The sum over all series of a counter or gauge that have these labels; for distributions, the count. 0 for an unknown name. */
  total(name: string, labels: Labels = {}): number {
    let total = 0;
    for (const family of this.#numbers) {
      if (family.description.name !== name) continue;
      for (const entry of family) if (matches(entry.labels, labels)) total += entry.series.value;
    }
    for (const family of this.#distributions) {
      if (family.description.name !== name) continue;
      for (const entry of family) if (matches(entry.labels, labels)) total += entry.series.summary().count;
    }
    return total;
  }

  snapshot(): MetricsSnapshot {
    const counters: NumberSample[] = [];
    const gauges: NumberSample[] = [];
    for (const family of this.#numbers) {
      const samples = family.description.kind === 'counter' ? counters : gauges;
      for (const { labels, series } of family) samples.push({ name: family.description.name, labels, value: series.value });
    }
    const distributions = this.#distributions.flatMap((family) =>
      Array.from(family, ({ labels, series }) => ({ name: family.description.name, labels, ...series.summary() })),
    );
    return { counters, gauges, distributions, overflowed: this.#budget.overflowed };
  }

  prometheus(): string {
    return prometheusText(
      [...this.#numbers, ...this.#distributions].map(({ description }) => description),
      this.snapshot(),
    );
  }

  #number<Names extends readonly string[]>(description: FamilyDescription<Names>): Family<NumberSeries, Names> {
    const family = new Family(description, () => new NumberSeries(), this.#budget);
    this.#numbers.push(family);
    return family;
  }

  #distribution<Names extends readonly string[]>(
    description: FamilyDescription<Names>,
    resolution: number,
  ): Family<DistributionSeries, Names> {
    const family = new Family(description, () => new DistributionSeries(resolution), this.#budget);
    this.#distributions.push(family);
    return family;
  }
}
