import { type Datum, TensorData, ValidationError, type ValidationIssue } from '@tinkex/types';
import type { CustomLossResult, LogprobTensor } from './custom-loss.js';
import { explainInvalidData } from './explain-invalid-data.js';

/**
 * The data of the forward pass: targets and weights as given, zero weights where there are none. Other inputs are for the loss and are not
 * sent. The caller's data are not changed.
 */
export function forwardData(data: readonly Datum[]): Datum[] {
  try {
    return data.map(withWeights);
  } catch (error) {
    throw explainInvalidData(data, error);
  }
}

function withWeights(datum: Datum, index: number): Datum {
  const { targetTokens, weights = zerosLike(targetTokens) } = checkedInputs(datum, index);
  return { ...datum, lossFnInputs: { targetTokens, weights } };
}

function zerosLike({ shape, length }: TensorData): TensorData {
  const size = shape ?? [length];
  return new TensorData({ data: new Float32Array(elements(size)), dtype: 'float32', shape: size });
}

/** The logprobs of each datum from the outputs of the forward pass. */
export function logprobsOf(outputs: readonly Readonly<Record<string, TensorData>>[], data: readonly Datum[]): LogprobTensor[] {
  if (outputs.length !== data.length) {
    throw invalid('response', 'lossFnOutputs', `has ${outputs.length} entries for ${data.length} data`);
  }
  return outputs.map((output, index) => {
    const tensor = output['logprobs']?.toDense();
    if (tensor === undefined) throw invalid('response', `lossFnOutputs[${index}].logprobs`, 'is missing');
    if (!(tensor.data instanceof Float32Array)) throw invalid('response', `lossFnOutputs[${index}].logprobs`, 'is not float32');
    return { data: tensor.data, shape: tensor.shape ?? [tensor.length] };
  });
}

/** The data of the backward pass: the same inputs and targets, weights = −gradient, two-dimensional ones sparse if that is smaller. */
export function backwardData(data: readonly Datum[], logprobs: readonly LogprobTensor[], result: CustomLossResult): Datum[] {
  checkResult(result, logprobs);
  return data.map((datum, index) => {
    const gradient = result.gradients[index] as Float32Array | readonly number[];
    const { shape } = logprobs[index] as LogprobTensor;
    const weights = new TensorData({ data: Float32Array.from(gradient, negate), dtype: 'float32', shape });
    return { ...datum, lossFnInputs: { targetTokens: datum.lossFnInputs.targetTokens as TensorData, weights: weights.toSmallest() } };
  });
}

function checkedInputs({ lossFnInputs }: Datum, index: number): { targetTokens: TensorData; weights: TensorData | undefined } {
  const path = `data[${index}].lossFnInputs`;
  const { targetTokens, weights } = lossFnInputs;
  if (targetTokens === undefined) throw invalid('request', `${path}.targetTokens`, 'is missing; a custom loss needs the targets');
  return { targetTokens, weights };
}

function checkResult(result: CustomLossResult, logprobs: readonly LogprobTensor[]): void {
  if (typeof result?.loss !== 'number')
    throw invalid('request', 'loss', 'must be a number: the custom loss returns { loss, gradients, metrics? }');
  const { gradients } = result;
  if (!Array.isArray(gradients)) throw invalid('request', 'gradients', 'must be an array with one gradient for each datum');
  if (gradients.length !== logprobs.length) {
    throw invalid('request', 'gradients', `has ${gradients.length} entries for ${logprobs.length} data`);
  }
  logprobs.forEach(({ data }, index) => {
    const gradient = gradients[index] as ArrayLike<unknown> | undefined;
    if (gradient === undefined || gradient === null) throw invalid('request', `gradients[${index}]`, 'is missing');
    if (gradient.length !== data.length) {
      throw invalid('request', `gradients[${index}]`, `has ${gradient.length} numbers for ${data.length} logprobs`);
    }
    const wrong = Array.prototype.findIndex.call(gradient, (value) => typeof value !== 'number' || !Number.isFinite(value));
    if (wrong >= 0)
      throw invalid('request', `gradients[${index}][${wrong}]`, `is ${String(gradient[wrong])}; gradients are finite numbers`);
  });
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function negate(value: number): number {
  return -value;
}

function invalid(direction: 'request' | 'response', path: string, message: string): ValidationError {
  const issues: ValidationIssue[] = [{ path, message }];
  return new ValidationError({ direction, subject: 'custom loss', issues });
}
