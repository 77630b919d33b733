const SERIES_COUNT = 8;

/** The color of the n-th run, as the style sheet has it. */
export function seriesColor(index: number): string {
  return cssValue(`--series-${(index % SERIES_COUNT) + 1}`);
}

/** The value of a property of the style sheet. */
export function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
