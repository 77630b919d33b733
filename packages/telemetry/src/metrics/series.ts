import { build, type Histogram } from 'hdr-histogram-js';

/** A number that goes up, or up and down. One record that is not a number must not spoil the sum for ever: it is ignored. */
export class NumberSeries {
  value = 0;

  add(amount: number): void {
    if (Number.isFinite(amount)) this.value += amount;
  }

  set(value: number): void {
    this.value = value;
  }
}

/** What a distribution looks like at one moment, in the family's unit. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * A distribution in constant memory. Percentiles are within 1 % (two significant digits of an HDR histogram, at most about 25 KB however
 * many values are recorded); count, sum, minimum and maximum are exact.
 */
export class DistributionSeries {
  readonly #histogram: Histogram = build({ numberOfSignificantValueDigits: 2 });
  /** How many histogram steps make one unit: histograms count whole numbers. */
  readonly #resolution: number;
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  constructor(resolution: number) {
    this.#resolution = resolution;
  }

  /** Negative values (a clock that was set back) count as 0; what is not a finite number is ignored. */
  record(value: number): void {
    if (!Number.isFinite(value)) return;
    const recorded = Math.max(value, 0);
    this.#count += 1;
    this.#sum += recorded;
    if (recorded < this.#min) this.#min = recorded;
    if (recorded > this.#max) this.#max = recorded;
    this.#histogram.recordValue(Math.min(Math.round(recorded * this.#resolution), 2 ** 52));
  }

  summary(): DistributionSummary {
    if (this.#count === 0) return { count: 0, sum: 0, min: 0, max: 0, mean: 0, p50: 0, p95: 0, p99: 0 };
    return {
      count: this.#count,
      sum: this.#sum,
      min: this.#min,
      max: this.#max,
      mean: this.#sum / this.#count,
      p50: this.#percentile(50),
      p95: this.#percentile(95),
      p99: this.#percentile(99),
    };
  }

  /** A bucket's upper end can lie beyond what was seen; never answer more than the true maximum. */
  #percentile(percentile: number): number {
    const value = this.#histogram.getValueAtPercentile(percentile) / this.#resolution;
    return Math.min(Math.max(value, this.#min), this.#max);
  }
}
