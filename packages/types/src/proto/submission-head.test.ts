import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { datum, ModelInput } from '../index.js';
import { protobuf, readSubmissionHead } from '../wire.js';

describe('readSubmissionHead', () => {
  const data = [datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } })];

  it('finds model and number among the fields of a request', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (modelId, seqId) => {
        const bytes = protobuf.forwardBackwardRequest.encode({ modelId, seqId, data, lossFn: 'cross_entropy', lossFnConfig: { a: 1 } });
        expect(readSubmissionHead(bytes)).toEqual({ modelId, seqId });
      }),
    );
  });

  it('finds them in a request whose data no codec would take', () => {
    const head = protobuf.forwardBackwardRequest.encode({ modelId: 'm', seqId: 7, data, lossFn: 'cross_entropy' });
    const emptyDatum = Uint8Array.of(0x1a, 0);
    const bytes = Uint8Array.of(...head, ...emptyDatum, 0x22, 0);
    expect(() => protobuf.forwardBackwardRequest.decode(bytes)).toThrow();
    expect(readSubmissionHead(bytes)).toEqual({ modelId: 'm', seqId: 7 });
  });

  it('finds nothing in a message without them, or in bytes that are none', () => {
    expect(readSubmissionHead(new Uint8Array())).toBeUndefined();
    expect(readSubmissionHead(Uint8Array.of(0x10, 1))).toBeUndefined();
    expect(readSubmissionHead(Uint8Array.of(0x0a, 1, 0x6d, 0x10, 7, 0x1a, 200))).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void readSubmissionHead(bytes)));
  });
});
