import type { RendererTokenizer } from '@tinkex/renderers';
import type { Datum, TensorData } from '@tinkex/types';

/** Per datum, the targets with their weights and what the model gave them. */
export interface ScoredTargets {
  readonly logprobs: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  readonly targetTokens: ArrayLike<number>;
}

/** What {@link bitsPerByte} uses of a tokenizer. */
export type DecodingTokenizer = Pick<RendererTokenizer, 'decode'>;

/** Puts the logprobs of a pass beside the targets and weights of its data. */
export function scoreTargets(data: readonly Datum[], logprobs: readonly ArrayLike<number>[]): ScoredTargets[] {
  return data.map(({ lossFnInputs: { weights, targetTokens } }, index) => ({
    logprobs: logprobs[index] ?? [],
    weights: numbersOf(weights),
    targetTokens: numbersOf(targetTokens),
  }));
}

/** The numbers of a tensor to read, without a copy where they are floats: a batch has as many as it has tokens. */
export function numbersOf(tensor: TensorData | undefined): ArrayLike<number> {
  return tensor?.data instanceof Float32Array ? tensor.data : (tensor?.toNumbers() ?? []);
}

/** The weighted mean of the negative logprobs. NaN when nothing has a weight. */
export function meanNll(scored: readonly ScoredTargets[]): number {
  let [sum, total] = [0, 0];
  for (const { logprobs, weights } of scored) {
    for (let index = 0; index < weights.length; index++) {
      const weight = weights[index] as number;
      if (weight === 0) continue;
      sum += weight * (logprobs[index] as number);
      total += weight;
    }
  }
  return total === 0 ? Number.NaN : -sum / total;
}

/**
 * Bits per byte of the text that is trained on: targets with a weight, special tokens excepted. Each run of adjacent targets is decoded by itself. NaN
 * when there is no text.
 */
export function bitsPerByte(scored: readonly ScoredTargets[], tokenizer: DecodingTokenizer): number {
  const isSpecial = specialTokenTest(tokenizer);
  let [sum, bytes] = [0, 0];
  for (const { logprobs, weights, targetTokens } of scored) {
    let run: number[] = [];
    for (let index = 0; index <= weights.length; index++) {
      const token = targetTokens[index] as number;
      if (index < weights.length && (weights[index] as number) > 0 && !isSpecial(token)) {
        sum += logprobs[index] as number;
        run.push(token);
      } else if (run.length > 0) {
        bytes += Buffer.byteLength(tokenizer.decode(run, { skipSpecialTokens: false }));
        run = [];
      }
    }
  }
  return bytes === 0 ? Number.NaN : -sum / (Math.LN2 * bytes);
}

/** A special token is one that disappears when special tokens are left out. */
function specialTokenTest(tokenizer: DecodingTokenizer): (token: number) => boolean {
  const known = new Map<number, boolean>();
  return (token) => {
    let isSpecial = known.get(token);
    if (isSpecial === undefined) {
      isSpecial =
        tokenizer.decode([token], { skipSpecialTokens: true }) === '' && tokenizer.decode([token], { skipSpecialTokens: false }) !== '';
      known.set(token, isSpecial);
    }
    return isSpecial;
  };
}
