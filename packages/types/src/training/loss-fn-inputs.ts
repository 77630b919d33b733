import { joinPath, keyText } from '../errors/issue-text.js';
import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import type { NestedNumbers } from '../tensor/flatten.js';
import { type AnyTypedArray, isTypedArray } from '../tensor/numbers.js';
import { TensorData, type TensorDtype } from '../tensor/tensor-data.js';

/** The inputs of a loss function. Documented names are camelCase; any other name is sent as it is written. Undefined means not given. */
export interface NamedLossFnInputs<T> {
  readonly targetTokens?: T | undefined;
  readonly weights?: T | undefined;
  readonly advantages?: T | undefined;
  readonly logprobs?: T | undefined;
  readonly clipLowThreshold?: T | undefined;
  readonly clipHighThreshold?: T | undefined;
  readonly sequenceRatioMask?: T | undefined;
  readonly [name: string]: T | undefined;
}

/** The tensors that a loss function reads. */
export type LossFnInputs = NamedLossFnInputs<TensorData>;

/** What may be given for a tensor: a tensor, a typed array, or (for documented names) plain numbers, nested for more dimensions. */
export type TensorLike = TensorData | AnyTypedArray | NestedNumbers;

/** What {@link datum} takes for {@link LossFnInputs}. */
export type LossFnInputsLike = NamedLossFnInputs<TensorLike>;

/** The documented inputs, by the name users write: their element type, and their name on the wire. Every other name is data. */
const DOCUMENTED: Readonly<Record<string, { readonly dtype: TensorDtype; readonly wireName: string }>> = {
  targetTokens: { dtype: 'int64', wireName: 'target_tokens' },
  weights: { dtype: 'float32', wireName: 'weights' },
  advantages: { dtype: 'float32', wireName: 'advantages' },
  logprobs: { dtype: 'float32', wireName: 'logprobs' },
  clipLowThreshold: { dtype: 'float32', wireName: 'clip_low_threshold' },
  clipHighThreshold: { dtype: 'float32', wireName: 'clip_high_threshold' },
  sequenceRatioMask: { dtype: 'float32', wireName: 'sequence_ratio_mask' },
};

const TO_WIRE = new Map(Object.entries(DOCUMENTED).map(([name, { wireName }]) => [name, wireName]));
const TO_DOMAIN = new Map(Object.entries(DOCUMENTED).map(([name, { wireName }]) => [wireName, name]));

/** The name of a loss function input on the wire. */
export function lossInputWireName(name: string): string {
  return TO_WIRE.get(name) ?? name;
}

/** The name that users write for a loss function input of the wire. */
export function lossInputDomainName(name: string): string {
  return TO_DOMAIN.get(name) ?? name;
}

/**
 * Makes a tensor from what was given for one input. Plain numbers take the documented element type of the name, so an undocumented
 * name needs a typed array or a `TensorData`. Typed arrays of another type are cast for documented names.
 */
export function lossFnInput(name: string, value: TensorLike): TensorData {
  if (TensorData.isInstance(value)) return value;
  const dtype = Object.hasOwn(DOCUMENTED, name) ? DOCUMENTED[name]?.dtype : undefined;
  if (isTypedArray(value)) return tensorOf(name, value, dtype);
  if (!Array.isArray(value)) {
    throw invalidRequest('Datum', `lossFnInputs.${name}`, 'must be an array of numbers, a typed array or a TensorData');
  }
  if (dtype === undefined) {
    const known = Object.keys(DOCUMENTED).join(', ');
    throw invalidRequest(
      'Datum',
      `lossFnInputs.${name}`,
      `has no documented element type (known: ${known}); give a TensorData or a typed array`,
    );
  }
  return tensorOf(name, value as NestedNumbers, dtype);
}

/** Issues with the numbers are reported below the name of the input. */
function tensorOf(name: string, value: AnyTypedArray | NestedNumbers, dtype: TensorDtype | undefined): TensorData {
  try {
    return TensorData.fromArray(value, dtype);
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    const place = joinPath('lossFnInputs', keyText(name));
    const issues = error.issues.map(({ path, message }) => ({ path: joinPath(place, path), message }));
    throw new ValidationError({ direction: 'request', subject: 'Datum', issues });
  }
}
