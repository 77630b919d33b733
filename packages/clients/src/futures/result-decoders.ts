import {
  type ForwardBackwardOutput,
  type JsonValue,
  type LoadWeightsResponse,
  type OptimStepResponse,
  type SampleResponse,
  type SaveWeightsExternalResponse,
  type SaveWeightsForSamplerResponse,
  type SaveWeightsResponse,
  type UnloadModelResponse,
  ValidationError,
  type WireFormat,
} from '@tinkex/types';
import { type CreateCustomLossResponse, type CreateModelResponse, endpoints, protobuf } from '@tinkex/types/wire';

/** The result of each kind of operation. */
export interface FutureResults {
  CreateModel: CreateModelResponse;
  CreateCustomLoss: CreateCustomLossResponse;
  Forward: ForwardBackwardOutput;
  ForwardBackward: ForwardBackwardOutput;
  OptimStep: OptimStepResponse;
  SaveWeights: SaveWeightsResponse;
  LoadWeights: LoadWeightsResponse;
  SaveWeightsForSampler: SaveWeightsForSamplerResponse;
  SaveWeightsExternal: SaveWeightsExternalResponse;
  UnloadModel: UnloadModelResponse;
  Sample: SampleResponse;
}

/** Reads the result of one kind of operation, in the wire formats it can have. */
export interface ResultDecoder<T> {
  json?(value: JsonValue): T;
  protobuf?(bytes: Uint8Array): T;
}

const FORWARD_BACKWARD: ResultDecoder<FutureResults['ForwardBackward']> = {
  json: (value) => endpoints.forwardBackward.result.decode(value),
  protobuf: (bytes) => protobuf.forwardBackwardOutput.decode(bytes),
};

/** How the result of each kind of operation is read. */
export const RESULT_DECODERS: { readonly [Type in keyof FutureResults]: ResultDecoder<FutureResults[Type]> } = {
  CreateModel: { json: (value) => endpoints.createModel.result.decode(value) },
  CreateCustomLoss: { json: (value) => endpoints.createCustomLoss.result.decode(value) },
  Forward: FORWARD_BACKWARD,
  ForwardBackward: FORWARD_BACKWARD,
  OptimStep: { json: (value) => endpoints.optimStep.result.decode(value) },
  SaveWeights: { json: (value) => endpoints.saveWeights.result.decode(value) },
  LoadWeights: { json: (value) => endpoints.loadWeights.result.decode(value) },
  SaveWeightsForSampler: { json: (value) => endpoints.saveWeightsForSampler.result.decode(value) },
  SaveWeightsExternal: { json: (value) => endpoints.saveWeightsExternal.result.decode(value) },
  UnloadModel: { json: (value) => endpoints.unloadModel.result.decode(value) },
  Sample: {
    json: (value) => endpoints.asample.result.decode(value),
    protobuf: (bytes) => protobuf.sampleResponse.decode(bytes),
  },
};

/** The `Accept` header of polls for results that exist in both formats. Servers that know only one ignore it. */
export const ACCEPTED_RESULTS: Readonly<Record<WireFormat | 'auto', string>> = {
  auto: 'application/x-protobuf, application/json',
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** Reads a finished result in the wire format that the server chose. */
export function decodeResult<T>(
  decoder: ResultDecoder<T>,
  result: { readonly encoding: 'json'; readonly value: JsonValue } | { readonly encoding: 'protobuf'; readonly bytes: Uint8Array },
  requestType: string,
): T {
  if (result.encoding === 'json' && decoder.json !== undefined) return decoder.json(result.value);
  if (result.encoding === 'protobuf' && decoder.protobuf !== undefined) return decoder.protobuf(result.bytes);
  const issues = [{ path: '', message: `came as ${result.encoding}, which this kind of result never has` }];
  throw new ValidationError({ direction: 'response', subject: `${requestType} result`, issues });
}
