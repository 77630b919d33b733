import { Family, type FamilyDescription, type Labels, type SeriesBudget } from './family.js';
import { prometheusText } from './prometheus-text.js';
import { type HistogramReading, HistogramSeries, NumberSeries } from './series.js';

/** One counter or gauge of a snapshot. */
export interface NumberSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** One histogram of a snapshot. */
export interface HistogramSample extends HistogramReading {
  readonly name: string;
  readonly labels: Labels;
}

/** All metrics at one moment: plain data that serializes as JSON. */
export interface MetricsSnapshot {
  readonly counters: readonly NumberSample[];
  readonly gauges: readonly NumberSample[];
  readonly histograms: readonly HistogramSample[];
  /** Records counted under the label value `other` because there were too many series. */
  readonly overflowed: number;
}

/** Label names of metrics that are kept per server. */
export const BY_SERVER = ['base_url'] as const;

/** Label names of metrics that are kept per server and kind of request. */
export const BY_REQUEST_TYPE = [...BY_SERVER, 'request_type'] as const;

/** From a fast HTTP attempt to a slow training step. */
const SECONDS_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const BYTES_BOUNDS = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/** Holds the families of metrics, with a limit on the number of their series. */
export class Registry {
  readonly #numbers: Family<NumberSeries>[] = [];
  readonly #histograms: Family<HistogramSeries>[] = [];
  readonly #budget: SeriesBudget;

  constructor(maxSeries: number) {
    this.#budget = { remaining: maxSeries, overflowed: 0 };
  }

  counter<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<NumberSeries, Names> {
    return this.#addNumber({ name, help, kind: 'counter', labelNames });
  }

  gauge<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<NumberSeries, Names> {
    return this.#addNumber({ name, help, kind: 'gauge', labelNames });
  }

  seconds<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<HistogramSeries, Names> {
    return this.#addHistogram({ name, help, kind: 'histogram', labelNames }, SECONDS_BOUNDS);
  }

  bytes<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<HistogramSeries, Names> {
    return this.#addHistogram({ name, help, kind: 'histogram', labelNames }, BYTES_BOUNDS);
  }

  get families(): readonly (Family<NumberSeries> | Family<HistogramSeries>)[] {
    return [...this.#numbers, ...this.#histograms];
  }

  /** The sum over all series of a counter or gauge that have these labels; the number of values for a histogram. 0 for an unknown name. */
  total(name: string, labels: Labels = {}): number {
    const { counters, gauges, histograms } = this.snapshot();
    let total = 0;
    for (const sample of [...counters, ...gauges, ...histograms]) {
      const isMeant = sample.name === name && Object.keys(labels).every((label) => sample.labels[label] === labels[label]);
      if (isMeant) total += 'value' in sample ? sample.value : sample.count;
    }
    return total;
  }

  snapshot(): MetricsSnapshot {
    const numbers = (kind: string) => this.#numbers.filter(({ description }) => description.kind === kind).flatMap(samplesOf);
    return {
      counters: numbers('counter'),
      gauges: numbers('gauge'),
      histograms: this.#histograms.flatMap(samplesOf),
      overflowed: this.#budget.overflowed,
    };
  }

  prometheus(): string {
    return prometheusText(this.families);
  }

  #addNumber<Names extends readonly string[]>(description: FamilyDescription<Names>): Family<NumberSeries, Names> {
    const family = new Family(description, () => new NumberSeries(), this.#budget);
    this.#numbers.push(family);
    return family;
  }

  #addHistogram<Names extends readonly string[]>(
    description: FamilyDescription<Names>,
    bounds: readonly number[],
  ): Family<HistogramSeries, Names> {
    const family = new Family(description, () => new HistogramSeries(bounds), this.#budget);
    this.#histograms.push(family);
    return family;
  }
}

function samplesOf<Reading>(family: Family<{ read(): Reading }>): ({ readonly name: string; readonly labels: Labels } & Reading)[] {
  return Array.from(family, ([labels, series]) => ({ name: family.description.name, labels, ...series.read() }));
}
