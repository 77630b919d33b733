import { Series } from './series.js';

/** The metrics that say most about a run, best first. */
const HEADLINES: readonly RegExp[] = [
  /^train_mean_nll$/,
  /^loss per token$/,
  /(^|\/)reward\/total$/,
  /reward/,
  /(^|[/_:])loss(:mean)?$/,
  /nll|loss/,
];

const SPARK_POINTS = 40;
/** Beyond this many metrics, further names are ignored: a page cannot show them. */
const MAX_METRICS = 1_000;

/** All metrics of a run, one series each. */
export class MetricTable {
  readonly #series = new Map<string, Series>();
  #lastStep = -1;
  #records = 0;

  /** How many steps there are: one more than the largest. */
  get steps(): number {
    return this.#lastStep + 1;
  }

  get records(): number {
    return this.#records;
  }

  get names(): readonly string[] {
    return [...this.#series.keys()];
  }

  get(name: string): Series | undefined {
    return this.#series.get(name);
  }

  /** Adds the numbers of one record. A record without a step belongs to the one after the last. */
  add(record: Readonly<Record<string, unknown>>, step = numberOr(record['step'], this.#lastStep + 1)): void {
    this.#records += 1;
    this.#lastStep = Math.max(this.#lastStep, step);
    for (const [name, value] of Object.entries(record)) {
      if (name === 'step' || typeof value !== 'number') continue;
      this.#seriesOf(name)?.add(step, value);
    }
  }

  /** The metric to show in a list of runs. */
  headline(): { metric: string; first: number; last: number; spark: number[] } | undefined {
    for (const pattern of HEADLINES) {
      for (const [metric, series] of this.#series) {
        if (!pattern.test(metric) || series.length === 0) continue;
        return { metric, first: series.values[0] ?? 0, last: series.last, spark: sparkOf(series) };
      }
    }
    return undefined;
  }

  #seriesOf(name: string): Series | undefined {
    const known = this.#series.get(name);
    if (known !== undefined || this.#series.size >= MAX_METRICS) return known;
    const series = new Series();
    this.#series.set(name, series);
    return series;
  }
}

function sparkOf({ values }: Series): number[] {
  if (values.length <= SPARK_POINTS) return Array.from(values, rounded);
  return Array.from({ length: SPARK_POINTS }, (_, index) =>
    rounded(values[Math.round((index * (values.length - 1)) / (SPARK_POINTS - 1))] ?? 0),
  );
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}
