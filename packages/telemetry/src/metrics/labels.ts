/** The labels of a series: names and values. */
export type Labels = Readonly<Record<string, string>>;

/** The labels of what is counted for each server. */
export const BY_SERVER = ['base_url'] as const;

/** The labels of what is counted for each kind of work on a server. */
export const BY_REQUEST_TYPE = [...BY_SERVER, 'request_type'] as const;

/** Whether `labels` has every label of `wanted`. */
export function matches(labels: Labels, wanted: Labels): boolean {
  for (const name in wanted) {
    if (labels[name] !== wanted[name]) return false;
  }
  return true;
}
