import { endpoints, protobuf } from '@tinkex/types/wire';
import type { FutureResults } from './futures.js';
import type { ResultDecoder } from './result-decoder.js';

const forwardBackward: ResultDecoder<FutureResults['ForwardBackward']> = {
  json: (value) => endpoints.forwardBackward.result.decode(value),
  protobuf: (bytes) => protobuf.forwardBackwardOutput.decode(bytes),
};

/** How the result of each kind of future is read. */
export const resultDecoders: { readonly [Type in keyof FutureResults]: ResultDecoder<FutureResults[Type]> } = {
  CreateModel: { json: (value) => endpoints.createModel.result.decode(value) },
  Forward: forwardBackward,
  ForwardBackward: forwardBackward,
  OptimStep: { json: (value) => endpoints.optimStep.result.decode(value) },
  SaveWeights: { json: (value) => endpoints.saveWeights.result.decode(value) },
  LoadWeights: { json: (value) => endpoints.loadWeights.result.decode(value) },
  SaveWeightsForSampler: { json: (value) => endpoints.saveWeightsForSampler.result.decode(value) },
  UnloadModel: { json: (value) => endpoints.unloadModel.result.decode(value) },
  Sample: {
    json: (value) => endpoints.asample.result.decode(value),
    protobuf: (bytes) => protobuf.sampleResponse.decode(bytes),
  },
};
