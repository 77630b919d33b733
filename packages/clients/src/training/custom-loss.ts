import type { Datum, ForwardBackwardOutput } from '@tinkex/types';
import type { DataChunk } from '@tinkex/types/wire';
import type { OngoingCall } from '../futures/running-call.js';
import { waitFor } from '../runtime/wait-for.js';
import { backwardData, forwardData, logprobsOf } from './custom-loss-data.js';
import type { TrainedModel } from './operations.js';
import { collectPass, type Pass, splitData, submitPass } from './passes.js';

const LOSS = 'loss:sum';
const SURROGATE = 'surrogate_loss:sum';

/** The log-probabilities of one datum's targets under the model being trained. */
export interface LogprobTensor {
  /** Row-major. Do not write into it. */
  readonly data: Float32Array;
  /** The shape of the datum's `targetTokens`. */
  readonly shape: readonly number[];
}

/** What a custom loss returns. */
export interface CustomLossResult {
  /** The loss C, a single number. */
  readonly loss: number;
  /** ∂C/∂logprob for each datum, as many numbers as it has logprobs, in the same order. */
  readonly gradients: readonly (Float32Array | readonly number[])[];
  /** Written over the server's metrics in the result, except for `loss:sum` and `surrogate_loss:sum`. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/**
 * A loss computed in this process. Receives the data as given, with all their inputs, and the logprobs of each datum. May be async. Do not await an operation of the
 * same training client in it: that operation waits for the backward pass, which waits for the loss.
 */
export type CustomLoss = (data: readonly Datum[], logprobs: readonly LogprobTensor[]) => CustomLossResult | Promise<CustomLossResult>;

/**
 * The result of a pass with a custom loss. Among its metrics, `loss:sum` is the custom loss, and `surrogate_loss:sum` is the loss that the server
 * computed on the way to the same gradients; its value means nothing by itself.
 */
export interface CustomForwardBackwardOutput extends ForwardBackwardOutput {
  /** What the custom loss returned. */
  readonly loss: number;
}

/**
 * Why two passes give the gradient of any loss: the server's cross-entropy is −Σ w·ℓ, so its gradient with weights w = −∂C/∂ℓ
 * is Σ (∂C/∂ℓ)(∂ℓ/∂θ) = ∂C/∂θ. Both passes must see the same weights; so both reserve their turns right away, next to each other, and no
 * operation called later can come between them.
 */
export async function runCustomPass(
  model: TrainedModel,
  call: OngoingCall,
  data: readonly Datum[],
  loss: CustomLoss,
): Promise<CustomForwardBackwardOutput> {
  const chunks = splitData(model, forwardData(data));
  const forward = reservePass(model, call, 'Forward', chunks);
  // Same inputs, dense weights of the same size: the backward pass is split where the forward pass is.
  const backward = reservePass(model, call, 'ForwardBackward', chunks);
  try {
    // The future counts as accepted only when the backward pass is: until then its request IDs would belong to the wrong pass.
    const forwardIds = await submitPass(model, call, forward);
    const { lossFnOutputs } = await collectPass(model, call, forward, forwardIds);
    const logprobs = logprobsOf(lossFnOutputs, data);
    const result = await computeLoss(model, call, loss, data, logprobs);
    const weighted = { ...backward, chunks: withData(chunks, backwardData(data, logprobs, result)) };
    const backwardIds = await submitPass(model, call, weighted);
    call.accept(backwardIds);
    const output = await collectPass(model, call, weighted, backwardIds);
    return { ...output, metrics: customMetrics(output.metrics, result), loss: result.loss };
  } finally {
    // After a failure of the forward pass or of the loss, the sequence IDs of the backward pass are skipped.
    backward.turn.end();
  }
}

/** The metrics of a pass with a custom loss. A server need not report its loss; then there is no surrogate either. */
export function customMetrics(server: Readonly<Record<string, number>>, { loss, metrics = {} }: CustomLossResult): Record<string, number> {
  const { [LOSS]: surrogate, ...others } = server;
  const { [LOSS]: _loss, [SURROGATE]: _surrogate, ...own } = metrics;
  return { ...others, ...own, [LOSS]: loss, ...(surrogate === undefined ? {} : { [SURROGATE]: surrogate }) };
}

function reservePass(model: TrainedModel, call: OngoingCall, requestType: Pass['requestType'], chunks: readonly DataChunk[]): Pass {
  const turn = model.reserve(call, chunks.length);
  return { requestType, chunks, turn, lossFn: 'cross_entropy', bodies: model.parts.training.bodyMemory.forPass() };
}

/** The user's loss may take its time, or never return. The call still ends when it has to; later operations wait for its turn. */
async function computeLoss(
  { parts }: TrainedModel,
  { signal }: OngoingCall,
  loss: CustomLoss,
  data: readonly Datum[],
  logprobs: readonly LogprobTensor[],
): Promise<CustomLossResult> {
  return waitFor(Promise.resolve(loss(data, logprobs)), parts.runtime.clock, { signal }, { what: 'the custom loss' });
}

/** Puts other data into the same chunks. */
function withData(chunks: readonly DataChunk[], data: readonly Datum[]): DataChunk[] {
  let start = 0;
  return chunks.map((chunk) => {
    const end = start + chunk.data.length;
    const moved = { ...chunk, data: data.slice(start, end) };
    start = end;
    return moved;
  });
}
