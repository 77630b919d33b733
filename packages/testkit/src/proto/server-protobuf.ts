import type { ForwardBackwardOutput, SampleResponse } from '@tinkex/types';
import { type BytesDecoder, type BytesEncoder, explainFailures, type ForwardBackwardRequest } from '@tinkex/types/wire';
import { readForwardBackwardRequest } from './read-request.js';
import { writeForwardBackwardOutput, writeSampleResponse } from './write-results.js';

/** The server's half of the protobuf wire format; the client's half is `protobuf` of `@tinkex/types/wire`. */
export const serverProtobuf: {
  readonly forwardBackwardRequest: BytesDecoder<ForwardBackwardRequest>;
  readonly forwardBackwardOutput: BytesEncoder<ForwardBackwardOutput>;
  readonly sampleResponse: BytesEncoder<SampleResponse>;
} = {
  forwardBackwardRequest: {
    name: 'ForwardBackwardRequest',
    decode: explainFailures('ForwardBackwardRequest', 'request', readForwardBackwardRequest),
  },
  forwardBackwardOutput: {
    name: 'ForwardBackwardOutput',
    encode: explainFailures('ForwardBackwardOutput', 'response', writeForwardBackwardOutput),
  },
  sampleResponse: { name: 'SampleResponse', encode: explainFailures('SampleResponse', 'response', writeSampleResponse) },
};
