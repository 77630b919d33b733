import { init, numpy as np, valueAndGrad } from '@jax-js/jax';
import type { Datum } from '@tinkex/types';
import type { CustomLoss, CustomLossResult, LogprobTensor } from '../training/custom-loss.js';

/** What a differentiable loss returns: the loss alone, or the loss with metrics. The loss is an array without dimensions. */
export type DifferentiableLossResult =
  | np.Array
  | { readonly loss: np.Array; readonly metrics?: Readonly<Record<string, np.Array | number>> };

/**
 * A loss written with jax-js arrays. It gets the logprobs of each datum as an array of the shape of its targets, and owns
 * them, as every jax-js function owns its arguments: use `.ref` for each use but the last, `dispose()` what is not used.
 */
export type DifferentiableLoss = (data: readonly Datum[], logprobs: np.Array[]) => DifferentiableLossResult;

/**
 * Turns a loss written with [jax-js](https://www.npmjs.com/package/@jax-js/jax) arrays into one for `forwardBackwardCustom`:
 * its gradient with respect to each logprob is taken automatically. Runs on the `wasm` backend, in float32; all arrays made
 * here are released, also when the loss throws.
 *
 * @example
 * ```text
 * const loss = autodiff((data, logprobs) => np.mean(np.concatenate(logprobs)).neg());
 * await training.forwardBackwardCustom(data, loss);
 * ```
 */
export function autodiff(loss: DifferentiableLoss): CustomLoss {
  return async (data, logprobs) => {
    await ready();
    const inputs = logprobs.map(toArray);
    try {
      const differentiated = valueAndGrad((arrays: np.Array[]) => split(loss(data, arrays)), { hasAux: true });
      const [[value, metrics], gradients] = differentiated(inputs) as unknown as Differentiated;
      return await collect(value, metrics, gradients);
    } catch (error) {
      for (const input of inputs) if (input.refCount > 0) input.dispose();
      throw error;
    }
  };
}

type Metrics = Record<string, np.Array>;
type Differentiated = [[np.Array, Metrics], np.Array[]];

let initialising: Promise<unknown> | undefined;

/** Other backends look for a browser; this one works everywhere. */
function ready(): Promise<unknown> {
  initialising ??= init('wasm');
  return initialising;
}

function toArray({ data, shape }: LogprobTensor): np.Array {
  return np.array(data).reshape([...shape]);
}

function split(result: DifferentiableLossResult): [np.Array, Metrics] {
  if (!('loss' in result)) return [result, {}];
  const entries = Object.entries(result.metrics ?? {});
  return [result.loss, Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? np.array(value) : value]))];
}

/** Reads everything out of jax-js. Reading consumes the arrays. */
async function collect(value: np.Array, metrics: Metrics, gradients: np.Array[]): Promise<CustomLossResult> {
  const read: Record<string, number> = {};
  for (const [name, metric] of Object.entries(metrics)) read[name] = await scalar(metric);
  const lossValue = await scalar(value);
  const gradientValues: Float32Array[] = [];
  for (const gradient of gradients) gradientValues.push(Float32Array.from(await gradient.data()));
  return { loss: lossValue, gradients: gradientValues, metrics: read };
}

async function scalar(array: np.Array): Promise<number> {
  const [value] = await array.data();
  return value as number;
}
