import { type Datum, ModelInput, TensorData, ValidationError } from '@tinkex/types';

/**
 * The error for data that could not be read: which datum is invalid, and how to create a valid one. TypeScript reports this at compile time;
 * programs in JavaScript, and data read from a file, get here. Called only after a failure, so that valid data is not checked twice.
 */
export function explainInvalidData(data: unknown, failure: unknown): unknown {
  if (ValidationError.isInstance(failure)) return failure;
  if (!Array.isArray(data)) return invalid('data', 'must be an array of data');
  for (const [index, one] of data.entries()) {
    const { modelInput, lossFnInputs } = (one ?? {}) as Partial<Datum>;
    const path = `data[${index}]`;
    if (!ModelInput.isInstance(modelInput))
      return invalid(`${path}.modelInput`, 'must be a ModelInput; create one with ModelInput.fromInts(tokens)');
    if (typeof lossFnInputs !== 'object' || lossFnInputs === null) return invalid(`${path}.lossFnInputs`, 'must be an object of tensors');
    for (const [name, tensor] of Object.entries(lossFnInputs)) {
      const isTensor = tensor === undefined || TensorData.isInstance(tensor);
      if (!isTensor)
        return invalid(
          `${path}.lossFnInputs.${name}`,
          'must be a TensorData; datum({ modelInput, lossFnInputs }) creates it from an array',
        );
    }
  }
  return failure;
}

function invalid(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'call', issues: [{ path, message }] });
}
