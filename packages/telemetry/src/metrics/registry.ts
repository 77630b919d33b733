import { Family, type Labels, type SeriesBudget } from './family.js';
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

/** Label names of metrics per server. */
export const BY_SERVER = ['base_url'] as const;
/** Label names of metrics per server and kind of request. */
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
    return addTo(this.#numbers, new Family({ name, help, kind: 'counter', labelNames }, () => new NumberSeries(), this.#budget));
  }

  gauge<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<NumberSeries, Names> {
    return addTo(this.#numbers, new Family({ name, help, kind: 'gauge', labelNames }, () => new NumberSeries(), this.#budget));
  }

  seconds<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<HistogramSeries, Names> {
    const create = () => new HistogramSeries(SECONDS_BOUNDS);
    return addTo(this.#histograms, new Family({ name, help, kind: 'histogram', labelNames }, create, this.#budget));
  }

  bytes<const Names extends readonly string[]>(name: string, help: string, labelNames: Names): Family<HistogramSeries, Names> {
    const create = () => new HistogramSeries(BYTES_BOUNDS);
    return addTo(this.#histograms, new Family({ name, help, kind: 'histogram', labelNames }, create, this.#budget));
  }

  get families(): readonly (Family<NumberSeries> | Family<HistogramSeries>)[] {
    return [...this.#numbers, ...this.#histograms];
  }

  /** The sum over all series of a counter or gauge that have these labels; the number of values for a histogram. 0 for an unknown name. */
  total(name: string, labels: Labels = {}): number {
    const { counters, gauges, histograms } = this.snapshot();
    return [...counters, ...gauges, ...histograms]
      .filter((sample) => sample.name === name && Object.keys(labels).every((label) => sample.labels[label] === labels[label]))
      .reduce((total, sample) => total + ('value' in sample ? sample.value : sample.count), 0);
  }

  snapshot(): MetricsSnapshot {
    const numbers = (kind: string) => this.#numbers.filter(({ description }) => description.kind === kind).flatMap(samplesOf);
    const histograms = this.#histograms.flatMap(samplesOf);
    return { counters: numbers('counter'), gauges: numbers('gauge'), histograms, overflowed: this.#budget.overflowed };
  }
}

function addTo<Series, Added extends Family<Series>>(families: Family<Series>[], family: Added): Added {
  families.push(family);
  return family;
}

function samplesOf<Reading>(family: Family<{ read(): Reading }>): ({ readonly name: string; readonly labels: Labels } & Reading)[] {
  return Array.from(family, ([labels, series]) => ({ name: family.description.name, labels, ...series.read() }));
}
