import type { ForwardBackwardOutput, SampleResponse } from '@tinkex/types';
import { type BytesDecoder, type BytesEncoder, explainFailures, type ForwardBackwardRequest } from '@tinkex/types/wire';
import { readForwardBackwardRequest } from './read-request.js';
import { writeForwardBackwardOutput, writeSampleResponse } from './write-results.js';

/** The request in a protobuf message. Calls `onUnknownField` for each field that the protocol does not know; their values are skipped. */
export function decodeForwardBackwardRequest(bytes: Uint8Array, onUnknownField: (field: string) => void): ForwardBackwardRequest {
  return explainFailures('ForwardBackwardRequest', 'request', (input: Uint8Array) => readForwardBackwardRequest(input, onUnknownField))(
    bytes,
  );
}

/** The server's half of the protobuf wire format; the client's half is `protobuf` of `@tinkex/types/wire`. */
export const serverProtobuf: {
  readonly forwardBackwardRequest: BytesDecoder<ForwardBackwardRequest>;
  readonly forwardBackwardOutput: BytesEncoder<ForwardBackwardOutput>;
  readonly sampleResponse: BytesEncoder<SampleResponse>;
} = {
  forwardBackwardRequest: {
    name: 'ForwardBackwardRequest',
    decode: (bytes) => decodeForwardBackwardRequest(bytes, () => undefined),
  },
  forwardBackwardOutput: {
    name: 'ForwardBackwardOutput',
    encode: explainFailures('ForwardBackwardOutput', 'response', writeForwardBackwardOutput),
  },
  sampleResponse: { name: 'SampleResponse', encode: explainFailures('SampleResponse', 'response', writeSampleResponse) },
};
