/** The labels of a series: names and values. */
export type Labels = Readonly<Record<string, string>>;

/** Whether `labels` has every label of `wanted`. */
export function matches(labels: Labels, wanted: Labels): boolean {
  for (const name in wanted) {
    if (labels[name] !== wanted[name]) return false;
  }
  return true;
}
