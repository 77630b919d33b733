import type { Labels } from './labels.js';

/** What kind of number a family holds. */
export type FamilyKind = 'counter' | 'gauge' | 'summary';

/** The name and meaning of a group of series that differ in the values of their labels only. */
export interface FamilyDescription<Names extends readonly string[] = readonly string[]> {
  /** As Prometheus wants it, units and `_total` included. */
  readonly name: string;
  readonly help: string;
  readonly kind: FamilyKind;
  /** The names of the labels that each of its series has. */
  readonly labelNames: Names;
}

/** How many series all families of one registry may have together. */
export interface SeriesBudget {
  remaining: number;
  /** Records that went to an overflow series. */
  overflowed: number;
}

/** A value for each label. */
type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

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
 * The series of one family. When the budget is used up, new values of labels share one series whose label values are all `other`: memory is
 * bounded, totals stay right.
 */
export class Family<Series, Names extends readonly string[] = readonly string[]> {
  readonly description: FamilyDescription<Names>;
  readonly #series: Entry<Series>[] = [];
  readonly #tree: Branch<Series> = { next: new Map() };
  readonly #make: () => Series;
  readonly #budget: SeriesBudget;
  #overflow: Entry<Series> | undefined;

  constructor(description: FamilyDescription<Names>, make: () => Series, budget: SeriesBudget) {
    this.description = description;
    this.#make = make;
    this.#budget = budget;
  }

  /** The series whose labels have these values, in the order of their names; made on first use. */
  with(...values: Values<Names>): Series {
    let branch: Branch<Series> | undefined = this.#tree;
    for (const value of values) branch = branch?.next.get(value);
    return branch?.series ?? this.#add(values);
  }

  *[Symbol.iterator](): IterableIterator<Entry<Series>> {
    yield* this.#series;
    if (this.#overflow !== undefined) yield this.#overflow;
  }

  #add(values: Values<Names>): Series {
    if (this.#budget.remaining <= 0) return this.#other();
    this.#budget.remaining -= 1;
    let branch = this.#tree;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    branch.series = this.#make();
    this.#series.push({ labels: this.#labels((index) => values[index] as string), series: branch.series });
    return branch.series;
  }

  #other(): Series {
    this.#budget.overflowed += 1;
    this.#overflow ??= { labels: this.#labels(() => 'other'), series: this.#make() };
    return this.#overflow.series;
  }

  #labels(valueAt: (index: number) => string): Labels {
    return Object.fromEntries(this.description.labelNames.map((name, index) => [name, valueAt(index)]));
  }
}
