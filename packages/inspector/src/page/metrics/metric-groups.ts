/** A section of the view. */
export interface MetricGroup {
  readonly title: string;
  readonly metrics: readonly string[];
  /** Whether the section is open at first. */
  readonly isOpen: boolean;
}

const GROUPS: readonly { readonly title: string; readonly matches: RegExp; readonly isOpen: boolean }[] = [
  { title: 'Time', matches: /^time\//, isOpen: false },
  { title: 'Validation', matches: /^(test|validation|eval)[/_]|\/eval\//, isOpen: true },
  { title: 'Reward', matches: /reward|correct|accuracy|by_group|format$/, isOpen: true },
  { title: 'Loss', matches: /loss|nll|bpb|perplexity/, isOpen: true },
  { title: 'KL and entropy', matches: /kl|entropy/, isOpen: true },
  { title: 'Optimizer', matches: /learning_rate|(^|\/)lr$|grad_norm|optim/, isOpen: true },
  { title: 'Episodes and tokens', matches: /token|sequence|turn|episode|num_|datums|weights:/, isOpen: false },
];

const OTHERS = 'Others';
/** The order of the sections: what matters most comes first. */
const ORDER = ['Loss', 'Reward', 'Validation', 'KL and entropy', 'Optimizer', 'Episodes and tokens', OTHERS, 'Time'];
/** Counters of the loop itself, which the steps show already. */
const HIDDEN = /^(progress(\/.*)?|epoch|optimizer_step:max)$/;

/** The metrics in sections. */
export function groupMetrics(names: readonly string[]): MetricGroup[] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    if (HIDDEN.test(name)) continue;
    const title = GROUPS.find(({ matches }) => matches.test(name))?.title ?? OTHERS;
    groups.set(title, [...(groups.get(title) ?? []), name]);
  }
  return ORDER.flatMap((title) => {
    const metrics = groups.get(title);
    if (metrics === undefined) return [];
    return [{ title, metrics: metrics.sort(), isOpen: GROUPS.find((group) => group.title === title)?.isOpen ?? false }];
  });
}
