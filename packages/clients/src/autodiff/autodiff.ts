import { init, numpy as np, valueAndGrad } from '@jax-js/jax';
import type { Datum } from '@tinkex/types';
import type { CustomLoss, CustomLossResult, LogprobTensor } from '../training/custom-loss.js';

/** What a differentiable loss returns: the loss alone, or the loss with metrics. All are numbers or arrays without dimensions. */
export type DifferentiableLossResult =
  | np.Array
  | { readonly loss: np.Array; readonly metrics?: Readonly<Record<string, np.Array | number>> | undefined };

/**
 * A loss written with jax-js arrays. It gets the logprobs of each datum as an array of the shape of its targets, and owns
 * them, as every jax-js function owns its arguments: use `.ref` for each use but the last. Logprobs it does not use are released for
 * it. A loss that throws midway must, like any jax-js code, first dispose the arrays it has created from them (`try … finally`).
 */
export type DifferentiableLoss = (data: readonly Datum[], logprobs: np.Array[]) => DifferentiableLossResult;

/**
 * Turns a loss written with [jax-js](https://www.npmjs.com/package/@jax-js/jax) arrays into one for `forwardBackwardCustom`:
 * its gradient with respect to each logprob is taken automatically. Runs on the `wasm` backend, in float32; all arrays made
 * here are released, also when the loss throws or returns something else than a loss.
 *
 * @throws What the loss throws; `TypeError` when it returns no array without dimensions.
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
    } finally {
      // Those the loss did not use. A gradient may be the very array of an input: by now it has been read.
      release(inputs);
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

/** Checked here and not by jax-js, which would keep what it has computed so far. */
function split(result: DifferentiableLossResult): [np.Array, Metrics] {
  const { loss, metrics = {} } = hasParts(result) ? result : { loss: result };
  const parts: [string, unknown][] = [
    ['loss', loss],
    ...Object.entries(metrics).map(([name, value]): [string, unknown] => [`metric ${name}`, value]),
  ];
  const wrong = parts.find(([name, value]) => !(isScalar(value) || (name !== 'loss' && typeof value === 'number')));
  if (wrong !== undefined) {
    for (const [, value] of parts) if (isArray(value)) value.dispose();
    throw new TypeError(`A differentiable loss returns scalars: the ${wrong[0]} is ${describe(wrong[1])}.`);
  }
  const arrays = Object.entries(metrics).map(([name, value]) => [name, typeof value === 'number' ? np.array(value) : value]);
  return [loss, Object.fromEntries(arrays)];
}

/** Reads everything out of jax-js. Reading consumes the arrays. */
async function collect(value: np.Array, metrics: Metrics, gradients: np.Array[]): Promise<CustomLossResult> {
  const unread = [...Object.values(metrics), value, ...gradients];
  const next = (): Promise<ArrayLike<number>> => (unread.shift() as np.Array).data();
  try {
    const read: Record<string, number> = {};
    for (const name of Object.keys(metrics)) read[name] = (await next())[0] as number;
    const loss = (await next())[0] as number;
    const gradientValues: Float32Array[] = [];
    while (unread.length > 0) gradientValues.push(Float32Array.from(await next()));
    return { loss, gradients: gradientValues, metrics: read };
  } finally {
    // Once each, as reading does: a loss may have returned an array that its author still holds.
    for (const array of unread) array.dispose();
  }
}

/** Gives back what is still held. What was read is not. */
function release(arrays: readonly np.Array[]): void {
  for (const array of arrays) while (array.refCount > 0) array.dispose();
}

function hasParts(result: DifferentiableLossResult): result is Exclude<DifferentiableLossResult, np.Array> {
  return typeof result === 'object' && result !== null && 'loss' in result;
}

/** Under differentiation arrays are stand-ins of other classes; all have a shape and can be disposed. */
function isArray(value: unknown): value is np.Array {
  return typeof value === 'object' && value !== null && 'shape' in value && 'dispose' in value;
}

function isScalar(value: unknown): boolean {
  return isArray(value) && value.shape.length === 0;
}

function describe(value: unknown): string {
  if (isArray(value)) return `an array of shape [${value.shape.join(', ')}]`;
  return value instanceof Promise ? 'a promise' : `of type ${typeof value}`;
}
