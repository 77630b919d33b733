import type { Datum, ForwardBackwardOutput } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { Operation } from '../futures/running-call.js';
import { waitFor } from '../runtime/wait-for.js';
import { backwardData, forwardData, logprobsOf } from './custom-loss-data.js';
import { runForwardPass } from './passes.js';
import type { ModelOperations } from './model-operations.js';
import { type PassPlan, planPass } from './pass-plan.js';
import type { Turn } from './turn-queue.js';

/** The log-probabilities of one datum's targets under the model being trained. */
export interface LogprobTensor {
  /** Row-major. Do not write into it. */
  readonly data: Float32Array;
  /** The shape of the datum's `targetTokens`. */
  readonly shape: readonly number[];
}

/** What a custom loss gives back. */
export interface CustomLossResult {
  /** The loss C, a single number. */
  readonly loss: number;
  /** ∂C/∂logprob for each datum, as many numbers as it has logprobs, in the same order. */
  readonly gradients: readonly (Float32Array | readonly number[])[];
  /** Written over the server's metrics in the result. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/**
 * A loss computed in this process. Gets the data as given and the logprobs of each datum. May be async. Do not await an operation of the same
 * training client in it: that operation waits for the backward pass, which waits for the loss.
 */
export type CustomLoss = (data: readonly Datum[], logprobs: readonly LogprobTensor[]) => CustomLossResult | Promise<CustomLossResult>;

/** The result of a pass with a custom loss. */
export interface CustomForwardBackwardOutput extends ForwardBackwardOutput {
  /** What the custom loss returned. */
  readonly loss: number;
}

/**
 * Why two passes give the gradient of any loss: the server's cross-entropy is −Σ w·ℓ, so its gradient with weights w = −∂C/∂ℓ
 * is Σ (∂C/∂ℓ)(∂ℓ/∂θ) = ∂C/∂θ. Both passes must see the same weights; so both take their places in the line right away,
 * next to each other, and nothing called later can come between them.
 */
export function startCustomPass(
  model: ModelOperations,
  data: readonly Datum[],
  loss: CustomLoss,
  options: CallOptions,
): ApiFuture<CustomForwardBackwardOutput> {
  const run = async (operation: Operation): Promise<CustomForwardBackwardOutput> => {
    const { config } = model.connection;
    const forward = planPass(forwardData(data), config);
    const forwardTurn = model.turns.reserve(forward.chunks.length);
    // Same inputs, dense weights of the same size: the backward pass is split where the forward pass is.
    const backwardTurn = model.turns.reserve(forward.chunks.length);
    try {
      const logprobs = await forwardLogprobs(model, operation, forward, forwardTurn, data, options);
      const result = await outcomeOf(loss, data, logprobs, model, operation);
      const plan = replan(forward, backwardData(data, logprobs, result));
      const output = await runForwardPass(model, operation, {
        plan,
        turn: backwardTurn,
        lossFn: 'cross_entropy',
        isForwardOnly: false,
        options,
      });
      return { ...output, metrics: { ...output.metrics, ...result.metrics }, loss: result.loss };
    } finally {
      // After a failure of the forward pass or of the loss, the numbers of the backward pass are skipped.
      backwardTurn.end();
    }
  };
  return model.connection.startOperation({ requestType: 'ForwardBackward', run }, options);
}

/** The loss is the user's and may take its time, or for ever. The call ends when it has to all the same; later operations wait for its turn. */
function outcomeOf(
  loss: CustomLoss,
  data: readonly Datum[],
  logprobs: readonly LogprobTensor[],
  { connection }: ModelOperations,
  { signal }: Operation,
): Promise<CustomLossResult> {
  return waitFor(Promise.resolve(loss(data, logprobs)), connection.clock, { signal }, 'the custom loss');
}

async function forwardLogprobs(
  model: ModelOperations,
  operation: Operation,
  plan: PassPlan,
  turn: Turn,
  data: readonly Datum[],
  options: CallOptions,
): Promise<LogprobTensor[]> {
  // The future counts as accepted only when the backward pass is: until then its request ids would belong to the wrong pass.
  const { signal, requestSignal, startedAtMs, observer, polled, queueState } = operation;
  const quiet: Operation = { signal, requestSignal, startedAtMs, observer, polled, queueState, accepted: () => undefined };
  const { lossFnOutputs } = await runForwardPass(model, quiet, { plan, turn, lossFn: 'cross_entropy', isForwardOnly: true, options });
  return logprobsOf(lossFnOutputs, data);
}

/** Puts other data into the same chunks. */
function replan(plan: PassPlan, data: readonly Datum[]): PassPlan {
  let start = 0;
  const chunks = plan.chunks.map((chunk) => {
    const end = start + chunk.data.length;
    const moved = { ...chunk, data: data.slice(start, end) };
    start = end;
    return moved;
  });
  return { ...plan, chunks };
}
