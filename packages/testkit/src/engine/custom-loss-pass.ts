import { type Datum, type ForwardBackwardOutput, TensorData, ValidationError } from '@tinkex/types';
import type { CustomLossProgram, CustomLossValue, DatumLogprobs } from '@tinkex/types/custom-loss';
import { EngineUserError } from './engine.js';
import type { LossFunction, TokenLossFunction } from './losses.js';
import type { Network } from './network.js';
import { type TrainingExample, trainingExample } from './training-example.js';
import { trainingPass } from './training-pass.js';

/** A loss that costs nothing: for a pass that only scores the targets. */
const NO_LOSS: TokenLossFunction = (_, __, out) => {
  out.value = 0;
  out.slope = 0;
  out.isClipped = false;
};
const TARGETS_ONLY: LossFunction = { inputs: [], optionalInputs: [], config: {}, bind: () => NO_LOSS };

/**
 * A pass with a custom loss. The loss of a datum may depend on all of its logprobs, so there are two passes over the model: one that
 * scores, and one that backpropagates the slopes of the loss. Nothing is added to the gradients before all losses have been computed.
 */
export function customLossPass(
  network: Network,
  data: readonly Datum[],
  program: CustomLossProgram,
  { backward }: { readonly backward: boolean },
): ForwardBackwardOutput {
  const examples = data.map((datum, index) => trainingExample(targetsOf(datum), index, TARGETS_ONLY, 'custom', network));
  const logprobs = examples.map((example) => trainingPass(network.scorer, example, NO_LOSS).logprobs);
  const value = runCustomLoss(
    program,
    data,
    examples.map(({ shape }, index) => ({ data: logprobs[index] as Float32Array, shape })),
  );
  if (backward) backpropagate(network, examples, value.gradients);
  return customLossOutput(
    value,
    examples.map(({ shape }, index) => TensorData.fromArray(logprobs[index] as Float32Array, 'float32', shape)),
  );
}

/** Runs the loss. What is wrong with the data is an error of the caller. */
export function runCustomLoss(program: CustomLossProgram, data: readonly Datum[], logprobs: readonly DatumLogprobs[]): CustomLossValue {
  try {
    const value = program.run(data, logprobs);
    const wrong = value.gradients.findIndex((gradient) => !gradient.every(Number.isFinite));
    if (wrong >= 0) throw new EngineUserError(`The gradient of custom loss '${program.definition.name}' is not finite for datum ${wrong}.`);
    return value;
  } catch (error) {
    if (ValidationError.isInstance(error)) throw new EngineUserError(error.message);
    throw error;
  }
}

/** What the service reports for a custom loss. */
export function customLossOutput({ loss, metrics }: CustomLossValue, logprobs: readonly TensorData[]): ForwardBackwardOutput {
  const tokens = logprobs.reduce((sum, { length }) => sum + length, 0);
  return {
    lossFnOutputType: 'ArrayRecord',
    lossFnOutputs: logprobs.map((tensor) => ({ logprobs: tensor })),
    metrics: { ...metrics, 'loss:sum': loss, 'tokens:sum': tokens },
  };
}

function backpropagate({ scorer, gradients }: Network, examples: readonly TrainingExample[], slopes: readonly Float64Array[]): void {
  const slopesOf = (index: number) => slopes[index] as Float64Array;
  for (const [index, example] of examples.entries()) {
    gradients.prepare?.({ ...example, factorOf: (target) => -(slopesOf(index)[target] as number) });
  }
  for (const [index, example] of examples.entries()) {
    const linear: TokenLossFunction = (_, target, out) => {
      out.value = 0;
      out.slope = slopesOf(index)[target] as number;
      out.isClipped = false;
    };
    trainingPass(scorer, example, linear, gradients);
  }
}

/** The other inputs are for the loss, which checks them itself. */
function targetsOf({ modelInput, lossFnInputs: { targetTokens } }: Datum): Datum {
  return { modelInput, lossFnInputs: targetTokens === undefined ? {} : { targetTokens } };
}
