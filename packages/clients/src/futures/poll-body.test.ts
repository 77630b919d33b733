import { futureRetrieveRequest, parseJson } from '@tinkex/types/wire';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pollBody } from './poll-body.js';

it('writes what the codec writes, for any id', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.boolean(), (requestId, allowMetadataOnly) => {
      expect(parseJson(pollBody(requestId, allowMetadataOnly))).toEqual(futureRetrieveRequest.encode({ requestId, allowMetadataOnly }));
    }),
  );
});
