import { serverProtobuf } from '../../../packages/testkit/src/proto/server-protobuf.js';
import { protobuf as client } from '../../../packages/types/src/wire.js';

/** Both halves of the protobuf wire format: the client's, which is under test, and the server's. */
export const protobuf = {
  forwardBackwardRequest: { ...client.forwardBackwardRequest, ...serverProtobuf.forwardBackwardRequest },
  forwardBackwardOutput: { ...client.forwardBackwardOutput, ...serverProtobuf.forwardBackwardOutput },
  sampleResponse: { ...client.sampleResponse, ...serverProtobuf.sampleResponse },
};
