import type { Labels } from './labels.js';

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

interface Entry<Series> {
  readonly labels: Labels;
  readonly series: Series;
}

/** Series by the values of their labels, a level for each label: one text of all values, made for each lookup, would cost more. */
interface Branch<Series> {
  readonly next: Map<string, Branch<Series>>;
  series?: Series;
}

/**
 * The series of one family. The names of its labels are fixed and always given in one order. When the budget is used up, new label
 * sets share one series whose label values are all `other`: memory is bounded, totals stay right.
 */
export class Family<Series> {
  readonly description: FamilyDescription;
  readonly #series: Entry<Series>[] = [];
  readonly #tree: Branch<Series> = { next: new Map() };
  readonly #make: () => Series;
  readonly #budget: SeriesBudget;
  #overflow: Entry<Series> | undefined;

  constructor(description: FamilyDescription, make: () => Series, budget: SeriesBudget) {
    this.description = description;
    this.#make = make;
    this.#budget = budget;
  }

  /** The series with these labels, made on first use. */
  with(labels: Labels): Series {
    let branch: Branch<Series> | undefined = this.#tree;
    for (const name in labels) branch = branch?.next.get(labels[name] as string);
    if (branch?.series !== undefined) return branch.series;
    if (this.#budget.remaining <= 0) return this.#other(labels);
    this.#budget.remaining -= 1;
    return this.#add({ ...labels });
  }

  *[Symbol.iterator](): IterableIterator<Entry<Series>> {
    yield* this.#series;
    if (this.#overflow !== undefined) yield this.#overflow;
  }

  #add(labels: Labels): Series {
    let branch = this.#tree;
    for (const name in labels) {
      const value = labels[name] as string;
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    branch.series = this.#make();
    this.#series.push({ labels, series: branch.series });
    return branch.series;
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
