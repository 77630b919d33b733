import { chunkLength, type Datum, datum, encodedText, ModelInput, type ModelInputChunk, ValidationError } from '@tinkex/types';

/** How the weights of an example are scaled: `mean` makes them sum to 1, so that long answers do not count more than short ones. */
export type Reduction = 'mean' | 'none';

/** Options of {@link datumFromModelInputWeights}. */
export interface DatumFromWeightsOptions {
  /** How many positions are kept at most. The end is cut off. Default: all. */
  readonly maxLength?: number | undefined;
  /** Default `none`. */
  readonly reduction?: Reduction | undefined;
}

/**
 * Makes an example that teaches to predict each token from those before it: the input is everything but the last token, the targets are everything but
 * the first. `weights` has one entry per position; the first is never a target and is left out. Images at the end are dropped, because nothing follows
 * them. Throws a `ValidationError` when fewer than two positions are left.
 */
export function datumFromModelInputWeights(
  modelInput: ModelInput,
  weights: ArrayLike<number>,
  options: DatumFromWeightsOptions = {},
): Datum {
  const { maxLength, reduction = 'none' } = options;
  if (reduction !== 'mean' && reduction !== 'none') throw invalid('reduction', `must be mean or none; got ${String(reduction)}`);
  const chunks = dropTrailingImages(truncate(modelInput.chunks, maxLength));
  const last = chunks.at(-1);
  if (last?.type !== 'encoded_text') throw invalid('modelInput', 'has no text at its end to learn');
  const length = chunks.reduce((sum, chunk) => sum + chunkLength(chunk), 0);
  if (length < 2) throw invalid('modelInput', 'must have at least two positions: one to read, one to predict');
  const input = last.tokens.length === 1 ? chunks.slice(0, -1) : [...chunks.slice(0, -1), encodedText(last.tokens.slice(0, -1))];
  return datum({
    modelInput: new ModelInput(input),
    lossFnInputs: { targetTokens: shiftTokens(chunks, length), weights: reduce(shiftWeights(weights, length), reduction) },
  });
}

/** The token at each position but the first; 0 where there is none. */
function shiftTokens(chunks: readonly ModelInputChunk[], length: number): Int32Array {
  const tokens = new Int32Array(length);
  let position = 0;
  for (const chunk of chunks) {
    if (chunk.type === 'encoded_text') tokens.set(chunk.tokens, position);
    position += chunkLength(chunk);
  }
  return tokens.subarray(1);
}

/** The weight of each position but the first. As many as there are: what is missing is reported later, as for any other example. */
function shiftWeights(weights: ArrayLike<number>, length: number): Float32Array {
  const shifted = new Float32Array(Math.max(0, Math.min(weights.length, length) - 1));
  for (let index = 0; index < shifted.length; index += 1) shifted[index] = weights[index + 1] as number;
  return shifted;
}

/** The first `maxLength` positions, without empty chunks. An image is kept whole or not at all. */
function truncate(chunks: readonly ModelInputChunk[], maxLength = Number.POSITIVE_INFINITY): ModelInputChunk[] {
  const kept = [...chunks];
  let overflow = kept.reduce((sum, chunk) => sum + chunkLength(chunk), 0) - maxLength;
  while (overflow > 0) {
    const last = kept.pop();
    if (last === undefined) break;
    const length = chunkLength(last);
    if (last.type === 'encoded_text' && length > overflow) kept.push(encodedText(last.tokens.slice(0, length - overflow)));
    overflow -= length;
  }
  return kept.filter((chunk) => chunk.type !== 'encoded_text' || chunk.tokens.length > 0);
}

function dropTrailingImages(chunks: readonly ModelInputChunk[]): readonly ModelInputChunk[] {
  const last = chunks.findLastIndex(({ type }) => type === 'encoded_text' || type === 'dmel');
  return chunks.slice(0, last + 1);
}

/** Scales the weights in place. */
function reduce(weights: Float32Array, reduction: Reduction): Float32Array {
  if (reduction === 'none') return weights;
  let sum = 0;
  for (const weight of weights) sum += weight;
  if (sum > 0) for (let index = 0; index < weights.length; index += 1) weights[index] = (weights[index] as number) / sum;
  return weights;
}

function invalid(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'training example', issues: [{ path, message: `${message}.` }] });
}
