import type { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { describe, expectTypeOf, it } from 'vitest';
import type { Codec, Infer, Tokenizer } from '../src/index.js';
import * as types from '../src/index.js';
import { requestObject, responseObject } from '../src/wire/objects.js';
import { integer, text } from '../src/wire/scalars.js';
import { filled, optional } from '../src/wire/wire-type.js';

interface Example {
  readonly name: string;
  readonly size?: number;
}

describe('an interface and the schema of its wire form', () => {
  it('are equal, or the codec does not compile', () => {
    requestObject<Example>('Example', { name: text(), size: optional(integer()) });
    // @ts-expect-error a field of the interface is missing
    requestObject<Example>('Example', { name: text() });
    // @ts-expect-error a field that the interface does not have
    requestObject<Example>('Example', { name: text(), size: optional(integer()), extra: text() });
    // @ts-expect-error a field of another type
    requestObject<Example>('Example', { name: integer(), size: optional(integer()) });
    // @ts-expect-error a required field that may be missing on the wire
    requestObject<Example>('Example', { name: optional(text()), size: optional(integer()) });
    // @ts-expect-error an optional field that is always there
    responseObject<Example>('Example', { name: text(), size: filled(integer(), () => 0) });
    // @ts-expect-error a wider type than the interface has
    requestObject<{ readonly status: 'ok' }>('Example', { status: text() });
  });

  it('are told apart by the codec in both directions', () => {
    expectTypeOf<Codec<Required<Example>>>().not.toExtend<Codec<{ readonly name: string }>>();
    expectTypeOf<Codec<{ readonly name: string }>>().not.toExtend<Codec<Required<Example>>>();
  });
});

describe('every codec', () => {
  it('reads and writes the plain interface of its name', () => {
    expectTypeOf<Infer<typeof types.adamParams>>().toEqualTypeOf<types.AdamParams>();
    expectTypeOf<Infer<typeof types.assignSessionProjectRequest>>().toEqualTypeOf<types.AssignSessionProjectRequest>();
    expectTypeOf<Infer<typeof types.auditLogQuery>>().toEqualTypeOf<types.AuditLogQuery>();
    expectTypeOf<Infer<typeof types.auditLogResponse>>().toEqualTypeOf<types.AuditLogResponse>();
    expectTypeOf<Infer<typeof types.authTokenRequest>>().toEqualTypeOf<types.AuthTokenRequest>();
    expectTypeOf<Infer<typeof types.authTokenResponse>>().toEqualTypeOf<types.AuthTokenResponse>();
    expectTypeOf<Infer<typeof types.billingUsageQuery>>().toEqualTypeOf<types.BillingUsageQuery>();
    expectTypeOf<Infer<typeof types.billingUsageResponse>>().toEqualTypeOf<types.BillingUsageResponse>();
    expectTypeOf<Infer<typeof types.checkpoint>>().toEqualTypeOf<types.Checkpoint>();
    expectTypeOf<Infer<typeof types.checkpointArchiveUrlResponse>>().toEqualTypeOf<types.CheckpointArchiveUrlResponse>();
    expectTypeOf<Infer<typeof types.checkpointsListResponse>>().toEqualTypeOf<types.CheckpointsListResponse>();
    expectTypeOf<Infer<typeof types.clientConfigRequest>>().toEqualTypeOf<types.ClientConfigRequest>();
    expectTypeOf<Infer<typeof types.clientConfigResponse>>().toEqualTypeOf<types.ClientConfigResponse>();
    expectTypeOf<Infer<typeof types.clientDynamicConfigResponse>>().toEqualTypeOf<types.ClientDynamicConfigResponse>();
    expectTypeOf<Infer<typeof types.createModelRequest>>().toEqualTypeOf<types.CreateModelRequest>();
    expectTypeOf<Infer<typeof types.createModelResponse>>().toEqualTypeOf<types.CreateModelResponse>();
    expectTypeOf<Infer<typeof types.createSamplingSessionRequest>>().toEqualTypeOf<types.CreateSamplingSessionRequest>();
    expectTypeOf<Infer<typeof types.createSamplingSessionResponse>>().toEqualTypeOf<types.CreateSamplingSessionResponse>();
    expectTypeOf<Infer<typeof types.createSessionRequest>>().toEqualTypeOf<types.CreateSessionRequest>();
    expectTypeOf<Infer<typeof types.createSessionResponse>>().toEqualTypeOf<types.CreateSessionResponse>();
    expectTypeOf<Infer<typeof types.cursor>>().toEqualTypeOf<types.Cursor>();
    expectTypeOf<Infer<typeof types.datumCodec>>().toEqualTypeOf<types.Datum>();
    expectTypeOf<Infer<typeof types.forwardBackwardOutput>>().toEqualTypeOf<types.ForwardBackwardOutput>();
    expectTypeOf<Infer<typeof types.forwardBackwardRequest>>().toEqualTypeOf<types.ForwardBackwardRequest>();
    expectTypeOf<Infer<typeof types.futureMetadataResponse>>().toEqualTypeOf<types.FutureMetadataResponse>();
    expectTypeOf<Infer<typeof types.futureRetrieveRequest>>().toEqualTypeOf<types.FutureRetrieveRequest>();
    expectTypeOf<Infer<typeof types.getInfoRequest>>().toEqualTypeOf<types.GetInfoRequest>();
    expectTypeOf<Infer<typeof types.getInfoResponse>>().toEqualTypeOf<types.GetInfoResponse>();
    expectTypeOf<Infer<typeof types.getSamplerResponse>>().toEqualTypeOf<types.GetSamplerResponse>();
    expectTypeOf<Infer<typeof types.getServerCapabilitiesResponse>>().toEqualTypeOf<types.GetServerCapabilitiesResponse>();
    expectTypeOf<Infer<typeof types.getSessionResponse>>().toEqualTypeOf<types.GetSessionResponse>();
    expectTypeOf<Infer<typeof types.healthResponse>>().toEqualTypeOf<types.HealthResponse>();
    expectTypeOf<Infer<typeof types.listSessionsResponse>>().toEqualTypeOf<types.ListSessionsResponse>();
    expectTypeOf<Infer<typeof types.loadWeightsRequest>>().toEqualTypeOf<types.LoadWeightsRequest>();
    expectTypeOf<Infer<typeof types.loadWeightsResponse>>().toEqualTypeOf<types.LoadWeightsResponse>();
    expectTypeOf<Infer<typeof types.loraConfig>>().toEqualTypeOf<types.LoraConfig>();
    expectTypeOf<Infer<typeof types.optimStepRequest>>().toEqualTypeOf<types.OptimStepRequest>();
    expectTypeOf<Infer<typeof types.optimStepResponse>>().toEqualTypeOf<types.OptimStepResponse>();
    expectTypeOf<Infer<typeof types.requestFailedResponse>>().toEqualTypeOf<types.RequestFailedResponse>();
    expectTypeOf<Infer<typeof types.sampleRequest>>().toEqualTypeOf<types.SampleRequest>();
    expectTypeOf<Infer<typeof types.sampleResponse>>().toEqualTypeOf<types.SampleResponse>();
    expectTypeOf<Infer<typeof types.samplingParams>>().toEqualTypeOf<types.SamplingParams>();
    expectTypeOf<Infer<typeof types.saveWeightsForSamplerRequest>>().toEqualTypeOf<types.SaveWeightsForSamplerRequest>();
    expectTypeOf<Infer<typeof types.saveWeightsForSamplerResponse>>().toEqualTypeOf<types.SaveWeightsForSamplerResponse>();
    expectTypeOf<Infer<typeof types.saveWeightsRequest>>().toEqualTypeOf<types.SaveWeightsRequest>();
    expectTypeOf<Infer<typeof types.saveWeightsResponse>>().toEqualTypeOf<types.SaveWeightsResponse>();
    expectTypeOf<Infer<typeof types.telemetryRequest>>().toEqualTypeOf<types.TelemetryRequest>();
    expectTypeOf<Infer<typeof types.telemetryResponse>>().toEqualTypeOf<types.TelemetryResponse>();
    expectTypeOf<Infer<typeof types.traceExportResponse>>().toEqualTypeOf<types.TraceExportResponse>();
    expectTypeOf<Infer<typeof types.trainingRun>>().toEqualTypeOf<types.TrainingRun>();
    expectTypeOf<Infer<typeof types.trainingRunsResponse>>().toEqualTypeOf<types.TrainingRunsResponse>();
    expectTypeOf<Infer<typeof types.tryAgainResponse>>().toEqualTypeOf<types.TryAgainResponse>();
    expectTypeOf<Infer<typeof types.untypedApiFuture>>().toEqualTypeOf<types.UntypedApiFuture>();
    expectTypeOf<Infer<typeof types.weightsInfoResponse>>().toEqualTypeOf<types.WeightsInfoResponse>();
    expectTypeOf<Infer<typeof types.whoamiResponse>>().toEqualTypeOf<types.WhoamiResponse>();
  });
});

describe('the types users write', () => {
  it('take a Hugging Face tokenizer as it is', () => {
    expectTypeOf<HuggingFaceTokenizer>().toExtend<Tokenizer>();
  });

  it('take plain, nested and typed arrays as loss inputs', () => {
    expectTypeOf({
      targetTokens: [1, 2],
      weights: new Float32Array(2),
      mine: types.TensorData.fromArray([1]),
    }).toExtend<types.LossFnInputsLike>();
    expectTypeOf({ targetTokens: [[1], [2]], weights: Int32Array.of(1) }).toExtend<types.LossFnInputsLike>();
  });

  it('know the codecs of each endpoint', () => {
    expectTypeOf(types.endpoints.createModel.request.encode).parameter(0).toEqualTypeOf<types.CreateModelRequest>();
    expectTypeOf(types.endpoints.createModel.result.decode).returns.toEqualTypeOf<types.CreateModelResponse>();
    expectTypeOf(types.endpoints.optimStep.requestType).toEqualTypeOf<'OptimStep'>();
    // @ts-expect-error its body is ignored, so there is no codec
    types.endpoints.deleteCheckpoint.response;
  });

  it('narrow errors', () => {
    const error: unknown = types.apiStatusError({ status: 429 });
    if (types.RateLimitError.isInstance(error)) expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
    if (types.RequestFailedError.isInstance(error)) expectTypeOf(error.category).toEqualTypeOf<'user' | 'server' | 'unknown'>();
  });
});
