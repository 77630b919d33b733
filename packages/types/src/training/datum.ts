import { invalidRequest } from '../errors/validation-error.js';
import { toTokens } from '../model-input/chunks.js';
import { ModelInput } from '../model-input/model-input.js';
import { TensorData } from '../tensor/tensor-data.js';
import { type LossFnInputs, type LossFnInputsLike, lossFnInput, lossInputDomainName } from './loss-fn-inputs.js';
import { type Provenance, withProvenance } from './provenance.js';

/** One example to train on. */
export interface Datum {
  readonly modelInput: ModelInput;
  readonly lossFnInputs: LossFnInputs;
  /** Which sampled sequences the tokens come from. Default: not said. */
  readonly provenance?: Provenance | undefined;
}

/** What {@link datum} takes. */
export interface DatumOptions {
  readonly modelInput: ModelInput;
  /** Default: none. */
  readonly lossFnInputs?: LossFnInputsLike | undefined;
  /** Which sampled sequences the tokens come from; see {@link withProvenance}. Default: not said. */
  readonly provenance?: Provenance | undefined;
}

/**
 * Makes an example to train on. Plain and typed arrays become tensors.
 *
 * @example
 * datum({ modelInput: ModelInput.fromInts(tokens.slice(0, -1)), lossFnInputs: { targetTokens: tokens.slice(1), weights } });
 */
export function datum({ modelInput, lossFnInputs = {}, provenance }: DatumOptions): Datum {
  if (!ModelInput.isInstance(modelInput)) {
    throw invalidRequest('Datum', 'modelInput', 'must be a ModelInput; make one with ModelInput.fromInts(tokens)');
  }
  const inputs: [string, TensorData][] = [];
  for (const [given, value] of Object.entries(lossFnInputs)) {
    if (value === undefined) continue;
    const name = lossInputDomainName(given);
    inputs.push([name, lossFnInput(name, value)]);
  }
  const made: Datum = { modelInput, lossFnInputs: Object.fromEntries(inputs) };
  return provenance === undefined ? made : withProvenance(made, provenance);
}

/** How {@link nextTokenDatum} weighs the targets. */
export interface NextTokenOptions {
  /**
   * The weight of each token (as many as tokens; the first is never a target and is left out) or of each target (one fewer).
   * Default: 1 for every target outside the prompt.
   */
  readonly weights?: ArrayLike<number> | undefined;
  /** How many tokens at the start are only context and weigh 0. Default 0. Not together with `weights`. */
  readonly promptLength?: number | undefined;
}

/**
 * Makes an example that teaches to predict each token from those before it: the input is all tokens but the last, the targets
 * are all but the first. Throws a `ValidationError` for fewer than two tokens, a token outside int32, or weights that do not fit.
 */
export function nextTokenDatum(tokens: readonly number[] | Int32Array, { weights, promptLength = 0 }: NextTokenOptions = {}): Datum {
  const ints = toTokens(tokens, 'tokens');
  const targetCount = ints.length - 1;
  if (targetCount < 1) throw invalidRequest('Datum', 'tokens', 'must be at least two: one to read, one to predict');
  if (weights !== undefined && promptLength !== 0) throw invalidRequest('Datum', 'promptLength', 'must not be set together with weights');
  if (!(Number.isInteger(promptLength) && promptLength >= 0)) {
    throw invalidRequest('Datum', 'promptLength', `must be a whole number from 0 up, got ${String(promptLength)}`);
  }
  const modelInput = ModelInput.fromInts(ints.slice(0, -1));
  const targetTokens = TensorData.fromArray(ints.slice(1), 'int64');
  const targetWeights = new Float32Array(targetCount);
  if (weights === undefined) targetWeights.fill(1, Math.max(0, promptLength - 1));
  else targetWeights.set(shiftWeights(weights, targetCount));
  return { modelInput, lossFnInputs: { targetTokens, weights: TensorData.fromArray(targetWeights) } };
}

function shiftWeights(weights: ArrayLike<number>, targetCount: number): number[] {
  const given = Array.from(weights);
  if (given.length === targetCount) return given;
  if (given.length === targetCount + 1) return given.slice(1);
  throw invalidRequest(
    'Datum',
    'weights',
    `must have one entry per token (${targetCount + 1}) or per target (${targetCount}), got ${given.length}`,
  );
}
