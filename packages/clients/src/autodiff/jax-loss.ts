import { init, type Jaxpr, makeJaxpr, numpy as np } from '@jax-js/jax';
import type { LossFunction, LossInputRanks, LossTensor, TracedLoss } from '@tinkex/types';
import { type JaxProgram, type JaxStep, type JaxValue, notTraceable, readJaxpr } from './read-jaxpr.js';

/** The loss of one datum, written with jax-js arrays. As in every jax-js function, use `.ref` for each use of an array but the last. */
export type JaxLossFunction<Inputs extends LossInputRanks = LossInputRanks> = (
  logprobs: np.Array,
  inputs: { readonly [Name in Exclude<keyof Inputs, 'logprobs'>]: np.Array },
) => np.Array | { readonly loss: np.Array; readonly metrics?: Readonly<Record<string, np.Array>> | undefined };

/** Two sizes that have nothing in common: a function that reads sizes is traced differently with each. */
const SIZES = [
  [61, 59],
  [71, 67],
] as const;

/**
 * Turns a loss written with [jax-js](https://www.npmjs.com/package/@jax-js/jax) arrays into one for `service.createCustomLoss`. The function is
 * traced, so it must compute the same steps for data of any length: arithmetic, comparisons, `where`, `exp`, `log`, `sqrt`, functions made of
 * them (`sigmoid`, `softplus`, `tanh`, `abs`, `clip`), sums, means, extremes and `stopGradient`.
 *
 * @throws `ValidationError` when the loss is created, if the function does something else.
 *
 * @example
 * ```text
 * const loss = await jaxLoss((logprobs, { advantages }) => np.sum(np.exp(logprobs).mul(advantages)).neg());
 * const handle = await service.createCustomLoss(loss, { inputs: { advantages: 1 } });
 * ```
 */
export async function jaxLoss<const Inputs extends LossInputRanks = LossInputRanks>(
  loss: JaxLossFunction<Inputs>,
): Promise<LossFunction<Inputs>> {
  await init('wasm');
  const traced: LossFunction = (logprobs, inputs) => {
    const names = Object.keys(inputs);
    const tensors = [logprobs, ...names.map((name) => inputs[name] as LossTensor)];
    const [program, other] = SIZES.map((sizes) => trace(loss as JaxLossFunction, names, tensors, sizes)) as [Traced, Traced];
    if (JSON.stringify(program) !== JSON.stringify(other)) throw notTraceable('its steps depend on the length of the data');
    return replay(program, tensors);
  };
  Object.defineProperty(traced, 'name', { value: loss.name });
  return traced as unknown as LossFunction<Inputs>;
}

interface Traced extends JaxProgram {
  readonly metrics: readonly string[];
}

function trace(loss: JaxLossFunction, names: readonly string[], tensors: readonly LossTensor[], sizes: readonly number[]): Traced {
  let metrics: readonly string[] = [];
  const flat = (...arrays: np.Array[]): np.Array[] => {
    const [logprobs, ...others] = arrays as [np.Array, ...np.Array[]];
    const result = loss(logprobs, Object.fromEntries(names.map((name, index) => [name, others[index] as np.Array])));
    const parts = 'loss' in result ? result : { loss: result };
    metrics = Object.keys(parts.metrics ?? {});
    return [parts.loss, ...Object.values(parts.metrics ?? {})];
  };
  const examples = tensors.map(({ inputRank = 1 }) => np.zeros(sizes.slice(0, inputRank)));
  const { jaxpr: closed } = makeJaxpr(flat)(...examples);
  try {
    if (closed.consts.length > 0) throw notTraceable('it uses an array that is not one of its inputs');
    const { steps, outputs } = readJaxpr(closed.jaxpr.flatten().simplify() as Jaxpr);
    return { steps, outputs, metrics };
  } finally {
    closed.dispose();
  }
}

/** Records the steps with the tensors of a custom loss. */
function replay({ steps, outputs, metrics }: Traced, inputs: readonly LossTensor[]): TracedLoss {
  const results: LossTensor[] = [];
  const toTensor = (value: JaxValue): LossTensor | number =>
    typeof value === 'number' ? value : 'input' in value ? (inputs[value.input] as LossTensor) : (results[value.step] as LossTensor);
  for (const step of steps) results.push(recordStep(step, step.values.map(toTensor)));
  const [loss, ...values] = outputs.map((output) => {
    if (typeof output === 'number') throw notTraceable('its loss or one of its metrics is a constant');
    return toTensor(output) as LossTensor;
  });
  return { loss: loss as LossTensor, metrics: Object.fromEntries(metrics.map((name, index) => [name, values[index] as LossTensor])) };
}

/** Comparisons as they are with the tensor first, and with the number first. */
const COMPARISONS: Readonly<Record<string, readonly ['lt' | 'le' | 'eq' | 'ne', 'gt' | 'ge' | 'eq' | 'ne']>> = {
  'compare:less': ['lt', 'gt'],
  'compare:less_equal': ['le', 'ge'],
  'compare:equal': ['eq', 'eq'],
  'compare:not_equal': ['ne', 'ne'],
};

function recordStep({ operation, axis }: JaxStep, values: readonly (LossTensor | number)[]): LossTensor {
  const isSwapped = typeof values[0] === 'number';
  // A step of two numbers does not occur: jax-js computes it itself.
  const [x, other = 0] = (isSwapped ? [values[1], values[0]] : values) as [LossTensor, LossTensor | number];
  if (typeof x !== 'object' || (isSwapped && operation === 'where')) throw notTraceable(`it applies '${operation}' to constants only`);
  const comparison = COMPARISONS[operation];
  if (comparison !== undefined) return x[comparison[isSwapped ? 1 : 0]](other);
  switch (operation) {
    case 'add':
    case 'mul':
      return x[operation](other);
    case 'min':
      return typeof other === 'number' ? x.clamp({ max: other }) : x.minimum(other);
    case 'max':
      return typeof other === 'number' ? x.clamp({ min: other }) : x.maximum(other);
    case 'and':
      return x.and(other as LossTensor);
    case 'where':
      return x.where(other, values[2] as LossTensor | number);
    case 'reciprocal':
      return x.pow(-1);
    case 'stop_gradient':
      return x.detach();
    case 'neg':
    case 'exp':
    case 'log':
    case 'sqrt':
    case 'float':
      return x[operation]();
    case 'reduce:Max':
      return x.max(axis);
    case 'reduce:Min':
      return x.min(axis);
    case 'mean':
      return x.mean(axis);
    default:
      return x.sum(axis);
  }
}
