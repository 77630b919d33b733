import { type Labels, labelKey } from './labels.js';

/** What kind of number a family holds. */
export type FamilyKind = 'counter' | 'gauge' | 'summary';

/** The name and meaning of a group of series that differ in their labels only. */
export interface FamilyDescription {
  /** As Prometheus wants it, units and `_total` included. */
  readonly name: string;
  readonly help: string;
  readonly kind: FamilyKind;
}

/** How many series all families of one registry may have together. */
export interface SeriesBudget {
  remaining: number;
  /** Records that went to an overflow series. */
  overflowed: number;
}

/**
 * The series of one family. When the budget is used up, new label sets share one series whose label values are all `other`: memory is
 * bounded, totals stay right.
 */
export class Family<Series> {
  readonly description: FamilyDescription;
  readonly #series = new Map<string, { readonly labels: Labels; readonly series: Series }>();
  readonly #make: () => Series;
  readonly #budget: SeriesBudget;
  #overflow: { readonly labels: Labels; readonly series: Series } | undefined;

  constructor(description: FamilyDescription, make: () => Series, budget: SeriesBudget) {
    this.description = description;
    this.#make = make;
    this.#budget = budget;
  }

  /** The series with these labels, made on first use. */
  with(labels: Labels): Series {
    const key = labelKey(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    if (this.#budget.remaining <= 0) return this.#other(labels);
    this.#budget.remaining -= 1;
    const made = { labels: { ...labels }, series: this.#make() };
    this.#series.set(key, made);
    return made.series;
  }

  *[Symbol.iterator](): IterableIterator<{ readonly labels: Labels; readonly series: Series }> {
    yield* this.#series.values();
    if (this.#overflow !== undefined) yield this.#overflow;
  }

  #other(labels: Labels): Series {
    this.#budget.overflowed += 1;
    if (this.#overflow === undefined) {
      const named = Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']));
      this.#overflow = { labels: named, series: this.#make() };
    }
    return this.#overflow.series;
  }
}
