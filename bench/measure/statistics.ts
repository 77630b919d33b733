/** Median and interquartile range of some numbers. */
export interface Spread {
  readonly median: number;
  /** First quartile. */
  readonly low: number;
  /** Third quartile. */
  readonly high: number;
}

/** The median; NaN without numbers. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Median and quartiles. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  return below === undefined || above === undefined ? Number.NaN : below + (above - below) * (place - Math.floor(place));
}
