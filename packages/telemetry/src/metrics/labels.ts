/** The labels of a series: names and values. */
export type Labels = Readonly<Record<string, string>>;

/** One text for one set of labels. Label names of a family are fixed and always given in one order, so no sorting is needed. */
export function labelKey(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\u0000`;
  return key;
}

/** Whether `labels` has every label of `wanted`. */
export function matches(labels: Labels, wanted: Labels): boolean {
  for (const name in wanted) {
    if (labels[name] !== wanted[name]) return false;
  }
  return true;
}
