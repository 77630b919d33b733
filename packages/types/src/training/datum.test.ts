import { describe, expect, it } from 'vitest';
import { datum, estimateDatumBytes, forwardBackwardRequest, ModelInput, protobuf, stringifyJson, TensorData } from '../index.js';

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
