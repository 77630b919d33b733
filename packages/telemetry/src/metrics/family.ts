import { safeText } from '../events/safe-text.js';

/** The labels of a series: names and values. */
export type Labels = Readonly<Record<string, string>>;

/** The name and meaning of a group of series that differ only in the values of their labels. */
export interface FamilyDescription<Names extends readonly string[] = readonly string[]> {
  /** A Prometheus name, with its unit and `_total` where they apply. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** The labels that every series of the family has. */
  readonly labelNames: Names;
}

/** How many more series all families of one registry may create. */
export interface SeriesBudget {
  remaining: number;
  /** Records that went to an overflow series. */
  overflowed: number;
}

/** One level per label: joining the values into one key for each lookup would cost more. */
interface Branch<Series> {
  readonly next: Map<string, Branch<Series>>;
  series?: Series;
}

/**
 * The series of one family. When the budget is used up, new label values share one series whose labels are all `other`, so that memory is
 * bounded and totals stay correct.
 */
export class Family<Series, Names extends readonly string[] = readonly string[]> implements Iterable<readonly [Labels, Series]> {
  readonly description: FamilyDescription<Names>;
  readonly #entries: (readonly [Labels, Series])[] = [];
  readonly #tree: Branch<Series> = { next: new Map() };
  readonly #create: () => Series;
  readonly #budget: SeriesBudget;
  #overflow: Series | undefined;

  constructor(description: FamilyDescription<Names>, create: () => Series, budget: SeriesBudget) {
    this.description = description;
    this.#create = create;
    this.#budget = budget;
  }

  /** The series with these label values, in the order of the label names; created on first use. Values are redacted. */
  with(...values: { readonly [Index in keyof Names]: string }): Series {
    let branch = this.#tree;
    for (const value of values) {
      const text = safeText(value);
      let next = branch.next.get(text);
      if (next === undefined) {
        if (this.#budget.remaining <= 0) return this.#overflowSeries();
        next = { next: new Map() };
        branch.next.set(text, next);
      }
      branch = next;
    }
    if (branch.series === undefined) {
      this.#budget.remaining -= 1;
      branch.series = this.#add(values);
    }
    return branch.series;
  }

  [Symbol.iterator](): Iterator<readonly [Labels, Series]> {
    return this.#entries.values();
  }

  #overflowSeries(): Series {
    this.#budget.overflowed += 1;
    this.#overflow ??= this.#add(this.description.labelNames.map(() => 'other'));
    return this.#overflow;
  }

  #add(values: readonly string[]): Series {
    const labels = Object.fromEntries(this.description.labelNames.map((name, index) => [name, safeText(values[index] ?? '')]));
    const series = this.#create();
    this.#entries.push([labels, series]);
    return series;
  }
}
