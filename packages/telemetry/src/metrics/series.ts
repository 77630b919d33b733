/** A number that goes up (counter), or up and down (gauge). */
export class NumberSeries {
  value = 0;

  /** Ignores what is not a finite number: one bad value must not spoil the sum forever. */
  add(amount: number): void {
    if (Number.isFinite(amount)) this.value += amount;
  }

  set(value: number): void {
    this.value = value;
  }

  read(): { readonly value: number } {
    return { value: this.value };
  }
}

/** The values a histogram has recorded so far, in the unit that the metric's name ends with. */
export interface HistogramReading {
  readonly count: number;
  readonly sum: number;
  /** 0 without values. */
  readonly min: number;
  /** 0 without values. */
  readonly max: number;
  /** Cumulative, as in Prometheus: each bucket counts the values up to and including `upTo`. Larger values are in `count` only. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

/** A distribution with fixed buckets: constant memory, however many values it records. */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  /** @param bounds - The upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  /** Counts a negative value (a clock that was set back) as 0; ignores what is not a finite number. */
  record(value: number): void {
    if (!Number.isFinite(value)) return;
    const recorded = Math.max(value, 0);
    this.#count += 1;
    this.#sum += recorded;
    this.#min = Math.min(this.#min, recorded);
    this.#max = Math.max(this.#max, recorded);
    const bucket = this.#bounds.findIndex((bound) => recorded <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  read(): HistogramReading {
    let cumulative = 0;
    const buckets = this.#bounds.map((upTo, index) => {
      cumulative += this.#counts[index] ?? 0;
      return { upTo, count: cumulative };
    });
    return { count: this.#count, sum: this.#sum, min: this.#count === 0 ? 0 : this.#min, max: this.#max, buckets };
  }
}
