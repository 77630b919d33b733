import { TinkexError } from '../errors/tinkex-error.js';
import { lossInputWireName } from '../training/loss-fn-inputs.js';
import { checkCustomLoss } from './check-custom-loss.js';
import type { CustomLossDefinition, CustomLossInput, CustomLossInputRank } from './custom-loss-graph.js';
import { LossRecorder } from './loss-recorder.js';
import { invalidLoss, LossTensor } from './loss-tensor.js';

/** The rank of each input, by name. */
export type LossInputRanks = Readonly<Record<string, CustomLossInputRank>>;

/** What a traced loss returns. */
export interface TracedLoss {
  /** A single number: the loss of one datum. */
  readonly loss: LossTensor;
  /** Single numbers, named `custom/NAME:sum` or `custom/NAME:mean`. */
  readonly metrics?: Readonly<Record<string, LossTensor>> | undefined;
}

/**
 * The loss of one datum, written with {@link LossTensor}. It is called once, to record its operations; the losses of all data are added up.
 *
 * @param logprobs - The log-probabilities of the datum's targets, in the shape of its `targetTokens`.
 * @param inputs - The other inputs, under the names that you declared.
 */
export type LossFunction<Inputs extends LossInputRanks = LossInputRanks> = (
  logprobs: LossTensor,
  inputs: { readonly [Name in Exclude<keyof Inputs, 'logprobs'>]: LossTensor },
) => TracedLoss;

/** What to trace besides the function. */
export interface TraceOptions<Inputs extends LossInputRanks> {
  /** Default: the name of the function, or `custom_loss`. */
  readonly name?: string | undefined;
  /** The inputs of each datum that the loss reads, with their ranks. `logprobs` sets the rank of the logprobs. Default: `{ logprobs: 1 }`. */
  readonly inputs?: Inputs | undefined;
}

/**
 * Records the operations of a loss as a graph.
 *
 * @throws `ValidationError` when the loss does something that a graph cannot hold, or names an input or a metric wrongly.
 */
export function traceLoss<const Inputs extends LossInputRanks>(
  fn: LossFunction<Inputs>,
  options: TraceOptions<Inputs> = {},
): CustomLossDefinition {
  if (typeof fn !== 'function') throw invalidLoss('must be a function of the logprobs and the inputs');
  const { logprobs: rank = 1, ...others } = options.inputs ?? ({} as LossInputRanks);
  const inputs: CustomLossInput[] = [{ name: 'logprobs', rank }];
  const recorder = new LossRecorder();
  const logprobs = recorder.input('logprobs', rank);
  const tensors: Record<string, LossTensor> = {};
  for (const [name, inputRank] of Object.entries(others)) {
    const wireName = lossInputWireName(name);
    inputs.push({ name: wireName, rank: inputRank });
    tensors[name] = recorder.input(wireName, inputRank);
  }
  const { loss, metrics } = checkResult(callLoss(() => fn(logprobs, tensors as never)));
  recorder.output(loss, metrics);
  const definition: CustomLossDefinition = {
    name: options.name ?? (fn.name || 'custom_loss'),
    inputs,
    graph: { format: 1, nodes: recorder.nodes },
  };
  checkCustomLoss(definition);
  return definition;
}

function callLoss(call: () => TracedLoss): TracedLoss {
  try {
    return call();
  } catch (error) {
    if (TinkexError.isInstance(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const failure = invalidLoss(
      `could not be traced: ${reason}. Use only the methods of the tensors. Wrap a jax-js function with jaxLoss of @tinkex/clients/autodiff`,
    );
    failure.cause = error;
    throw failure;
  }
}

function checkResult(result: TracedLoss): { loss: LossTensor; metrics: Readonly<Record<string, LossTensor>> } {
  if (typeof (result as unknown as PromiseLike<unknown> | undefined)?.then === 'function') {
    throw invalidLoss('must not be async: it is traced, not executed');
  }
  const { loss, metrics = {} } = result ?? {};
  if (!(loss instanceof LossTensor)) throw invalidLoss('must return { loss, metrics? } with a tensor as its loss');
  for (const [name, metric] of Object.entries(metrics)) {
    if (!(metric instanceof LossTensor)) throw invalidLoss(`has the metric '${name}', which must be a tensor`);
  }
  return { loss, metrics };
}
