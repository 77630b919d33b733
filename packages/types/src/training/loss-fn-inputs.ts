import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import type { NestedNumbers } from '../tensor/flatten.js';
import { type AnyTypedArray, isTypedArray } from '../tensor/numbers.js';
import { TensorData, type TensorDtype } from '../tensor/tensor-data.js';
import { joinPath, keyText } from '../wire/messages.js';

/** The tensors a loss function reads. Documented names are camelCase; any other name is sent as it is written. Undefined is the same as not given. */
export interface LossFnInputs {
  readonly targetTokens?: TensorData | undefined;
  readonly weights?: TensorData | undefined;
  readonly advantages?: TensorData | undefined;
  readonly logprobs?: TensorData | undefined;
  readonly clipLowThreshold?: TensorData | undefined;
  readonly clipHighThreshold?: TensorData | undefined;
  readonly [name: string]: TensorData | undefined;
}

/** What may stand for a tensor: a tensor, a typed array, or (for documented names) plain numbers, nested for more dimensions. */
export type TensorLike = TensorData | AnyTypedArray | NestedNumbers;

/** What {@link datum} takes for {@link LossFnInputs}. Undefined is the same as not given. */
export interface LossFnInputsLike {
  readonly targetTokens?: TensorLike | undefined;
  readonly weights?: TensorLike | undefined;
  readonly advantages?: TensorLike | undefined;
  readonly logprobs?: TensorLike | undefined;
  readonly clipLowThreshold?: TensorLike | undefined;
  readonly clipHighThreshold?: TensorLike | undefined;
  readonly [name: string]: TensorLike | undefined;
}

/** The element types of the documented inputs, by the name users write. */
export const LOSS_FN_INPUT_DTYPES: Readonly<Record<string, TensorDtype>> = {
  targetTokens: 'int64',
  weights: 'float32',
  advantages: 'float32',
  logprobs: 'float32',
  clipLowThreshold: 'float32',
  clipHighThreshold: 'float32',
};

/**
 * Makes a tensor of what was given for one input. Plain numbers take the documented element type of the name, so an undocumented
 * name needs a typed array or a `TensorData`. Typed arrays of another type are cast for documented names.
 */
export function lossFnInput(name: string, value: TensorLike): TensorData {
  if (TensorData.isInstance(value)) return value;
  const dtype = Object.hasOwn(LOSS_FN_INPUT_DTYPES, name) ? LOSS_FN_INPUT_DTYPES[name] : undefined;
  if (isTypedArray(value)) return tensorOf(name, value, dtype);
  if (!Array.isArray(value)) {
    throw invalidRequest('Datum', `lossFnInputs.${name}`, 'must be an array of numbers, a typed array or a TensorData');
  }
  if (dtype === undefined) {
    const known = Object.keys(LOSS_FN_INPUT_DTYPES).join(', ');
    throw invalidRequest(
      'Datum',
      `lossFnInputs.${name}`,
      `has no documented element type (known: ${known}); give a TensorData or a typed array`,
    );
  }
  return tensorOf(name, value as NestedNumbers, dtype);
}

/** What is wrong with the numbers is reported as being below the input's name. */
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
