import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from './datum.js';
import type { ForwardBackwardOutput } from './forward-backward.js';

/**
 * The loss of a pass, summed over its data: the metric `loss:sum`. Some servers send no metrics; then the loss is added up from the outputs
 * `elementwise_loss`, or for a cross-entropy from `logprobs` and the data's `weights`.
 *
 * @param data - The data of the pass, in the same order.
 * @returns `undefined` when the output has none of these: never `NaN` for a loss that is absent.
 *
 * @example
 * ```ts
 * import { lossOf, nextTokenDatum, TensorData } from '@tinkex/types';
 *
 * const data = [nextTokenDatum([1, 2, 3])];
 * const output = { lossFnOutputType: 'scalar', lossFnOutputs: [{ logprobs: TensorData.fromArray([-0.5, -1.5], 'float32') }], metrics: {} };
 * console.log(lossOf(output, data)); // 2
 * ```
 */
export function lossOf({ metrics, lossFnOutputs }: ForwardBackwardOutput, data: readonly Datum[]): number | undefined {
  const sum = metrics['loss:sum'];
  if (sum !== undefined) return sum;
  if (lossFnOutputs.length === 0 || lossFnOutputs.length !== data.length) return undefined;
  return total(lossFnOutputs.map(({ elementwise_loss: losses }) => losses && sumOf(losses))) ?? crossEntropy(lossFnOutputs, data);
}

function crossEntropy(outputs: ForwardBackwardOutput['lossFnOutputs'], data: readonly Datum[]): number | undefined {
  return total(
    outputs.map(({ logprobs }, index) => {
      const { weights, advantages } = data[index]?.lossFnInputs ?? {};
      const isCrossEntropy = logprobs !== undefined && weights?.data.length === logprobs.data.length && advantages === undefined;
      return isCrossEntropy ? -sumOf(logprobs, weights) : undefined;
    }),
  );
}

function total(losses: readonly (number | undefined)[]): number | undefined {
  return losses.reduce((sum, loss) => (sum === undefined || loss === undefined ? undefined : sum + loss), 0);
}

/** Targets that weigh nothing may have no finite logprob. */
function sumOf({ data }: TensorData, weights?: TensorData): number {
  let sum = 0;
  for (let index = 0; index < data.length; index += 1) {
    const weight = weights === undefined ? 1 : Number(weights.data[index]);
    if (weight !== 0) sum += weight * Number(data[index]);
  }
  return sum;
}
