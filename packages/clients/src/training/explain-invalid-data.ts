import { type Datum, ModelInput, TensorData, ValidationError } from '@tinkex/types';

/**
 * What to throw for data that could not be read: which of them is no datum, and how to make one. TypeScript says so while one writes; programs in
 * JavaScript, and data read from a file, get here. Asked only after a failure, so that good data are not looked at twice.
 */
export function explainData(data: unknown, failure: unknown): unknown {
  if (ValidationError.isInstance(failure)) return failure;
  if (!Array.isArray(data)) return wrong('data', 'must be an array of data');
  for (const [index, one] of data.entries()) {
    const { modelInput, lossFnInputs } = (one ?? {}) as Partial<Datum>;
    const path = `data[${index}]`;
    if (!ModelInput.isInstance(modelInput))
      return wrong(`${path}.modelInput`, 'must be a ModelInput; make one with ModelInput.fromInts(tokens)');
    if (typeof lossFnInputs !== 'object' || lossFnInputs === null) return wrong(`${path}.lossFnInputs`, 'must be an object of tensors');
    for (const [name, tensor] of Object.entries(lossFnInputs)) {
      const isTensor = tensor === undefined || TensorData.isInstance(tensor);
      if (!isTensor)
        return wrong(`${path}.lossFnInputs.${name}`, 'must be a TensorData; datum({ modelInput, lossFnInputs }) makes it from an array');
    }
  }
  return failure;
}

function wrong(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'call', issues: [{ path, message }] });
}
