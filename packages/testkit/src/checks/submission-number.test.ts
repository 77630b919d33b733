import { datum, ModelInput, protobuf } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberInJson, numberInProtobuf } from './submission-number.js';

describe('the number of a submission', () => {
  it('is read from any protobuf body', () => {
    const data = [datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } })];
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (modelId, seqId) => {
        const lossFnConfig = { beta: 0.5 };
        const body = protobuf.forwardBackwardRequest.encode({ modelId, seqId, lossFn: 'dro', lossFnConfig, data, forwardOnly: true });
        expect(numberInProtobuf(body)).toEqual({ modelId, seqId });
      }),
    );
  });

  it('is none where the body names none, or is something else', () => {
    expect(numberInProtobuf(new Uint8Array())).toBeUndefined();
    expect(numberInProtobuf(Uint8Array.of(0x10, 1))).toBeUndefined();
    expect(numberInJson({ model_id: 'm' })).toBeUndefined();
    expect(numberInJson(null)).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void numberInProtobuf(bytes)));
  });
});
