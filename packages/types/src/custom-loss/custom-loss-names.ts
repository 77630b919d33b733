import type { CustomLossInput } from './custom-loss-graph.js';

const INPUT_NAME = /^[a-z_][a-z0-9_]{0,63}$/;
const METRIC_NAME = /^custom\/[a-z0-9_./-]{1,64}:(?:sum|mean)$/;

/** How many inputs a custom loss takes at most, `logprobs` included. */
const MAX_INPUTS = 16;

/** Whether an input of a custom loss may have this name. */
export function isCustomLossInputName(name: string): boolean {
  return INPUT_NAME.test(name);
}

/** Whether a metric of a custom loss may have this name. The prefix keeps it from hiding a metric of the server. */
export function isCustomLossMetricName(name: string): boolean {
  return METRIC_NAME.test(name);
}

/** Says what is wrong with the inputs of a custom loss, or undefined when nothing is. */
export function customLossInputsProblem(inputs: readonly CustomLossInput[]): string | undefined {
  const [first] = inputs;
  if (first?.name !== 'logprobs') return 'must begin with logprobs';
  if (first.rank === 0) return 'give logprobs the rank 0; it has rank 1 ([T]) or 2 ([T, K])';
  if (inputs.length > MAX_INPUTS) return `are ${inputs.length}; a custom loss takes at most ${MAX_INPUTS}, logprobs included`;
  const names = new Set<string>();
  for (const { name, rank } of inputs) {
    if (!isCustomLossInputName(name)) {
      return `must not include '${name}'; names have up to 64 lowercase letters, digits and underscores and do not begin with a digit`;
    }
    if (names.has(name)) return `include '${name}' twice`;
    if (rank !== 0 && rank !== 1 && rank !== 2) return `give '${name}' the rank ${String(rank)}; ranks are 0, 1 and 2`;
    names.add(name);
  }
  return undefined;
}

/** What a name of a metric must look like, for messages. */
export const METRIC_NAME_RULE =
  'must be named custom/NAME:sum or custom/NAME:mean, where NAME has 1 to 64 of a-z, 0-9, _, ., / and -; the suffix says how data combine';
