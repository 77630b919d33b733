/** The two numbers of each line such as `loss: 4.9 → 0.02`. */
export function changesOf(output: string, label: string): { readonly from: number; readonly to: number }[] {
  const found = output.matchAll(new RegExp(`^${label}:? (-?\\d+\\.\\d+) → (-?\\d+\\.\\d+)`, 'gm'));
  return Array.from(found, ([, from, to]) => ({ from: Number(from), to: Number(to) }));
}

/** The numbers of the only such line. */
export function changeOf(output: string, label: string): { readonly from: number; readonly to: number } {
  const [change, ...others] = changesOf(output, label);
  if (change === undefined || others.length > 0) throw new Error(`There is not exactly one line "${label}: … → …" in:\n${output}`);
  return change;
}
