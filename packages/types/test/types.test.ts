import type { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { describe, expectTypeOf, it } from 'vitest';
import type { Tokenizer } from '../src/index.js';
import * as types from '../src/index.js';
import { requestObject, responseObject } from '../src/wire/objects.js';
import { integer, text } from '../src/wire/scalars.js';
import { filled, optional } from '../src/wire/wire-type.js';
import type { Codec, Infer } from '../src/wire.js';
import * as wire from '../src/wire.js';

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
    expectTypeOf<Infer<typeof wire.adamParams>>().toEqualTypeOf<types.AdamParams>();
    expectTypeOf<Infer<typeof wire.assignSessionProjectRequest>>().toEqualTypeOf<wire.AssignSessionProjectRequest>();
    expectTypeOf<Infer<typeof wire.auditLogQuery>>().toEqualTypeOf<wire.AuditLogQuery>();
    expectTypeOf<Infer<typeof wire.auditLogResponse>>().toEqualTypeOf<types.AuditLogResponse>();
    expectTypeOf<Infer<typeof wire.authTokenRequest>>().toEqualTypeOf<wire.AuthTokenRequest>();
    expectTypeOf<Infer<typeof wire.authTokenResponse>>().toEqualTypeOf<wire.AuthTokenResponse>();
    expectTypeOf<Infer<typeof wire.billingUsageQuery>>().toEqualTypeOf<wire.BillingUsageQuery>();
    expectTypeOf<Infer<typeof wire.billingUsageResponse>>().toEqualTypeOf<types.BillingUsageResponse>();
    expectTypeOf<Infer<typeof wire.checkpoint>>().toEqualTypeOf<types.Checkpoint>();
    expectTypeOf<Infer<typeof wire.checkpointArchiveUrlResponse>>().toEqualTypeOf<types.CheckpointArchiveUrlResponse>();
    expectTypeOf<Infer<typeof wire.checkpointsListResponse>>().toEqualTypeOf<types.CheckpointsListResponse>();
    expectTypeOf<Infer<typeof wire.clientConfigRequest>>().toEqualTypeOf<wire.ClientConfigRequest>();
    expectTypeOf<Infer<typeof wire.clientConfigResponse>>().toEqualTypeOf<wire.ClientConfigResponse>();
    expectTypeOf<Infer<typeof wire.clientDynamicConfigResponse>>().toEqualTypeOf<wire.ClientDynamicConfigResponse>();
    expectTypeOf<Infer<typeof wire.createModelRequest>>().toEqualTypeOf<wire.CreateModelRequest>();
    expectTypeOf<Infer<typeof wire.createModelResponse>>().toEqualTypeOf<wire.CreateModelResponse>();
    expectTypeOf<Infer<typeof wire.createSamplingSessionRequest>>().toEqualTypeOf<wire.CreateSamplingSessionRequest>();
    expectTypeOf<Infer<typeof wire.createSamplingSessionResponse>>().toEqualTypeOf<wire.CreateSamplingSessionResponse>();
    expectTypeOf<Infer<typeof wire.createSessionRequest>>().toEqualTypeOf<wire.CreateSessionRequest>();
    expectTypeOf<Infer<typeof wire.createSessionResponse>>().toEqualTypeOf<wire.CreateSessionResponse>();
    expectTypeOf<Infer<typeof wire.cursor>>().toEqualTypeOf<types.Cursor>();
    expectTypeOf<Infer<typeof wire.datumCodec>>().toEqualTypeOf<types.Datum>();
    expectTypeOf<Infer<typeof wire.forwardBackwardOutput>>().toEqualTypeOf<types.ForwardBackwardOutput>();
    expectTypeOf<Infer<typeof wire.forwardBackwardRequest>>().toEqualTypeOf<wire.ForwardBackwardRequest>();
    expectTypeOf<Infer<typeof wire.futureMetadataResponse>>().toEqualTypeOf<wire.FutureMetadataResponse>();
    expectTypeOf<Infer<typeof wire.futureRetrieveRequest>>().toEqualTypeOf<wire.FutureRetrieveRequest>();
    expectTypeOf<Infer<typeof wire.getInfoRequest>>().toEqualTypeOf<wire.GetInfoRequest>();
    expectTypeOf<Infer<typeof wire.getInfoResponse>>().toEqualTypeOf<types.GetInfoResponse>();
    expectTypeOf<Infer<typeof wire.getSamplerResponse>>().toEqualTypeOf<types.GetSamplerResponse>();
    expectTypeOf<Infer<typeof wire.getServerCapabilitiesResponse>>().toEqualTypeOf<types.GetServerCapabilitiesResponse>();
    expectTypeOf<Infer<typeof wire.getSessionResponse>>().toEqualTypeOf<types.GetSessionResponse>();
    expectTypeOf<Infer<typeof wire.healthResponse>>().toEqualTypeOf<wire.HealthResponse>();
    expectTypeOf<Infer<typeof wire.listSessionsResponse>>().toEqualTypeOf<types.ListSessionsResponse>();
    expectTypeOf<Infer<typeof wire.loadWeightsRequest>>().toEqualTypeOf<wire.LoadWeightsRequest>();
    expectTypeOf<Infer<typeof wire.loadWeightsResponse>>().toEqualTypeOf<types.LoadWeightsResponse>();
    expectTypeOf<Infer<typeof wire.loraConfig>>().toEqualTypeOf<types.LoraConfig>();
    expectTypeOf<Infer<typeof wire.optimStepRequest>>().toEqualTypeOf<wire.OptimStepRequest>();
    expectTypeOf<Infer<typeof wire.optimStepResponse>>().toEqualTypeOf<types.OptimStepResponse>();
    expectTypeOf<Infer<typeof wire.requestFailedResponse>>().toEqualTypeOf<wire.RequestFailedResponse>();
    expectTypeOf<Infer<typeof wire.sampleRequest>>().toEqualTypeOf<wire.SampleRequest>();
    expectTypeOf<Infer<typeof wire.sampleResponse>>().toEqualTypeOf<types.SampleResponse>();
    expectTypeOf<Infer<typeof wire.samplingParams>>().toEqualTypeOf<types.SamplingParams>();
    expectTypeOf<Infer<typeof wire.saveWeightsForSamplerRequest>>().toEqualTypeOf<wire.SaveWeightsForSamplerRequest>();
    expectTypeOf<Infer<typeof wire.saveWeightsForSamplerResponse>>().toEqualTypeOf<types.SaveWeightsForSamplerResponse>();
    expectTypeOf<Infer<typeof wire.saveWeightsRequest>>().toEqualTypeOf<wire.SaveWeightsRequest>();
    expectTypeOf<Infer<typeof wire.saveWeightsResponse>>().toEqualTypeOf<types.SaveWeightsResponse>();
    expectTypeOf<Infer<typeof wire.telemetryRequest>>().toEqualTypeOf<wire.TelemetryRequest>();
    expectTypeOf<Infer<typeof wire.telemetryResponse>>().toEqualTypeOf<wire.TelemetryResponse>();
    expectTypeOf<Infer<typeof wire.traceExportResponse>>().toEqualTypeOf<types.TraceExportResponse>();
    expectTypeOf<Infer<typeof wire.trainingRun>>().toEqualTypeOf<types.TrainingRun>();
    expectTypeOf<Infer<typeof wire.trainingRunsResponse>>().toEqualTypeOf<types.TrainingRunsResponse>();
    expectTypeOf<Infer<typeof wire.tryAgainResponse>>().toEqualTypeOf<wire.TryAgainResponse>();
    expectTypeOf<Infer<typeof wire.untypedApiFuture>>().toEqualTypeOf<wire.UntypedApiFuture>();
    expectTypeOf<Infer<typeof wire.weightsInfoResponse>>().toEqualTypeOf<types.WeightsInfoResponse>();
    expectTypeOf<Infer<typeof wire.whoamiResponse>>().toEqualTypeOf<types.WhoamiResponse>();
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
    expectTypeOf(wire.endpoints.createModel.request.encode).parameter(0).toEqualTypeOf<wire.CreateModelRequest>();
    expectTypeOf(wire.endpoints.createModel.result.decode).returns.toEqualTypeOf<wire.CreateModelResponse>();
    expectTypeOf(wire.endpoints.optimStep.requestType).toEqualTypeOf<'OptimStep'>();
    // @ts-expect-error its body is ignored, so there is no codec
    wire.endpoints.deleteCheckpoint.response;
  });

  it('narrow errors', () => {
    const error: unknown = wire.apiStatusError({ status: 429 });
    if (types.RateLimitError.isInstance(error)) expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
    if (types.RequestFailedError.isInstance(error)) expectTypeOf(error.category).toEqualTypeOf<'user' | 'server' | 'unknown'>();
  });
});
