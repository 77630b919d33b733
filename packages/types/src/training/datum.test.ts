import { describe, expect, it } from 'vitest';
import { datum, ModelInput, nextTokenDatum, TensorData } from '../index.js';
import { estimateDatumBytes, forwardBackwardRequest, protobuf, stringifyJson } from '../wire.js';

const modelInput = ModelInput.fromInts([1, 2]);

describe('an input that is undefined', () => {
  const targetTokens = TensorData.fromArray([2, 3], 'int64');
  const written = { modelInput, lossFnInputs: { targetTokens } };
  // Without exactOptionalPropertyTypes the compiler lets an undefined weights through.
  const withUndefined = { modelInput, lossFnInputs: { targetTokens, weights: undefined, other: undefined } } as unknown as typeof written;

  it('is the same as none', () => {
    expect(datum(withUndefined)).toStrictEqual(written);
  });

  it('is left out of both dialects, and of the size', () => {
    const request = (data: typeof written) => ({ modelId: 'm', seqId: 1, lossFn: 'cross_entropy', data: [data] });
    expect(protobuf.forwardBackwardRequest.encode(request(withUndefined))).toEqual(
      protobuf.forwardBackwardRequest.encode(request(written)),
    );
    expect(stringifyJson(forwardBackwardRequest.encode(request(withUndefined)))).toBe(
      stringifyJson(forwardBackwardRequest.encode(request(written))),
    );
    expect(estimateDatumBytes(withUndefined)).toBe(estimateDatumBytes(written));
  });
});

describe('what is wrong with numbers', () => {
  it.each([
    [{ weights: [[1, 2], [3]] }, 'Invalid Datum: lossFnInputs.weights[1] is ragged'],
    [{ targetTokens: [1, Number.NaN] }, 'Invalid Datum: lossFnInputs.targetTokens[1] must be a number inside int64, got NaN'],
    [{ 'my input': BigUint64Array.of(2n ** 63n) }, 'Invalid Datum: lossFnInputs["my input"][0] must be a number inside int64'],
    [{ weights: [1, null] }, 'Invalid Datum: lossFnInputs.weights[1] must be a number, not null'],
  ])('%# is named by its input', (lossFnInputs, message) => {
    expect(() => datum({ modelInput, lossFnInputs: lossFnInputs as never })).toThrow(message);
  });

  it.each([
    [[1, 2, 3.5], {}, 'tokens[2] must be a whole number inside int32, got 3.5'],
    [[1, 2, 2 ** 40], {}, 'tokens[2] must be a whole number inside int32'],
    [[1, 2, 3], { promptLength: Number.NaN }, 'promptLength must be a whole number from 0 up, got NaN'],
    [[1, 2, 3], { promptLength: -1 }, 'promptLength must be a whole number from 0 up, got -1'],
  ])('%# is refused by nextTokenDatum', (tokens, options, message) => {
    expect(() => nextTokenDatum(tokens, options)).toThrow(message);
  });
});
