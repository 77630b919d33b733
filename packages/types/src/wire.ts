// How the objects of the API travel: codecs, the table of endpoints, and what clients and servers share. Applications need none of it.
export type { Endpoint, EndpointPool, HttpMethod } from './endpoints/endpoint.js';
export { type EndpointName, endpoints } from './endpoints/endpoints.js';
export { failureMessage } from './errors/failure-message.js';
export { isRetryableResponse, isRetryableStatus, retryAfterMs } from './errors/retry-advice.js';
export { apiStatusError, type FailedResponse } from './errors/status-errors.js';
export { isPlainObject } from './json/json-value.js';
export { parseJson } from './json/parse.js';
export { redactJson } from './json/redact-json.js';
export { stringifyJson } from './json/stringify.js';
export { tensorContainerShape } from './model-input/tensor-container.js';
export { checkForwardBackwardRequest } from './proto/forward-backward-request-checks.js';
export {
  ArrayRecordSchema,
  BatchedTensorSchema,
  ChunkSchema,
  DatumSchema,
  DmelChunkSchema,
  DType,
  DTypeSchema,
  EncodedTextChunkSchema,
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
  file_tinker_public as tinkerPublicFile,
  ImageChunkSchema,
  type ProvenanceSpanSchema,
  SampledSequenceSchema,
  SampleResponseSchema,
  SamplingParamsSchema,
  SparseCsrSchema,
  StopReason as ProtoStopReason,
  StopReasonSchema,
  StopStringsSchema,
  StopTokensSchema,
  TensorSchema,
  TopkLogprobsSchema,
} from './proto/gen/tinker_public_pb.js';
export { type BytesDecoder, type BytesEncoder, explainFailures, PROTOBUF_CONTENT_TYPE, protobuf } from './proto/protobuf.js';
export type { AllocateBytes } from './proto/writer.js';
export { hideKnownSecrets, REDACTED, rememberSecret } from './redaction/known-secrets.js';
export { redactText, redactUrl } from './redaction/redact-text.js';
export { type PlainValue, redactHeaders, redactValue, rememberHeaders } from './redaction/redact-value.js';
export { showAs } from './show-as.js';
export { byteVocabulary } from './tokenizer/byte-tokenizer.js';
export { estimateDatumBytes, estimatePromptBytes } from './training/byte-estimates.js';
export { type ChunkLimits, chunkData, type DataChunk } from './training/chunk-data.js';
export {
  type ChunkMetrics,
  combineForwardBackwardOutputs,
  type ReduceMetricsOptions,
  reduceMetrics,
  wrappingSum,
} from './training/combine-outputs.js';
export type { ForwardBackwardRequest } from './training/forward-backward.js';
export { lossFnInput } from './training/loss-fn-inputs.js';
export { coverageIssues } from './training/provenance.js';
export {
  type AuditLogQuery,
  auditLogQuery,
  auditLogResponse,
  type BillingUsageQuery,
  billingUsageQuery,
  billingUsageResponse,
} from './wire/billing.js';
export {
  checkpoint,
  checkpointArchiveUrlResponse,
  checkpointsListResponse,
  cursor,
  type GetTrainingRunQuery,
  getTrainingRunQuery,
  type ListTrainingRunsQuery,
  type ListUserCheckpointsQuery,
  listTrainingRunsQuery,
  listUserCheckpointsQuery,
  type SetCheckpointTtlRequest,
  setCheckpointTtlRequest,
  trainingRun,
  trainingRunsResponse,
} from './wire/checkpoints.js';
export type { AnyCodec, Codec, Infer } from './wire/codec.js';
export { type CopyWeightsRequest, copyWeightsRequest, copyWeightsResponse } from './wire/copy-weights.js';
export {
  type CreateCustomLossRequest,
  type CreateCustomLossResponse,
  createCustomLossRequest,
  createCustomLossResponse,
} from './wire/custom-loss.js';
export {
  externalWeightsUrlsResponse,
  type SaveWeightsExternalRequest,
  saveWeightsExternalRequest,
  saveWeightsExternalResponse,
} from './wire/external-weights.js';
export {
  type CancelFutureRequest,
  cancelFutureRequest,
  type FinishedFuture,
  type FutureCompletion,
  type FutureMetadataResponse,
  type FutureRetrieveRequest,
  type FuturesRetrieveRequest,
  type FuturesRetrieveResponse,
  type FuturesTarget,
  futureMetadataResponse,
  futureRetrieveRequest,
  futuresRetrieveRequest,
  futuresRetrieveResponse,
  type RequestFailedResponse,
  requestFailedResponse,
  type TryAgainResponse,
  tryAgainResponse,
  type UntypedApiFuture,
  untypedApiFuture,
} from './wire/futures.js';
export {
  type CreateModelRequest,
  type CreateModelResponse,
  createModelRequest,
  createModelResponse,
  DEFAULT_LORA_RANK,
  type GetInfoRequest,
  getInfoRequest,
  getInfoResponse,
  loraConfig,
  type ResolvedLoraConfig,
  resolveLoraConfig,
  type UnloadModelRequest,
  unloadModelRequest,
  unloadModelResponse,
} from './wire/models.js';
export { unknownFields } from './wire/objects.js';
export {
  adamParams,
  DEFAULT_ADAM_PARAMS,
  type OptimStepRequest,
  optimStepRequest,
  optimStepResponse,
  type ResolvedAdamParams,
} from './wire/optim-step.js';
export { DEFAULT_OPTIMIZER, dimuonParams, type OptimizerParams } from './wire/optimizers.js';
export {
  type FailureReport,
  type PollAnswerMeaning,
  type QueueReport,
  readFailure,
  readPollAnswer,
  readQueueReport,
} from './wire/poll-answer.js';
export {
  type CreateSamplingSessionRequest,
  type CreateSamplingSessionResponse,
  createSamplingSessionRequest,
  createSamplingSessionResponse,
  getSamplerResponse,
  type JoinSamplingSessionRequest,
  type JoinSamplingSessionResponse,
  joinSamplingSessionRequest,
  joinSamplingSessionResponse,
  type SampleRequest,
  sampleRequest,
  sampleResponse,
  samplingParams,
} from './wire/sampling.js';
export {
  type AuthTokenRequest,
  type AuthTokenResponse,
  authTokenRequest,
  authTokenResponse,
  type ClientConfigRequest,
  type ClientConfigResponse,
  type ClientDynamicConfigResponse,
  clientConfigRequest,
  clientConfigResponse,
  clientDynamicConfigResponse,
  getServerCapabilitiesResponse,
  type HealthResponse,
  healthResponse,
  type SelfApiKeyResponse,
  selfApiKeyResponse,
  whoamiResponse,
} from './wire/service.js';
export { sessionSearchRequest, sessionSearchResponse } from './wire/session-search.js';
export { type FinishSessionRequest, finishSessionRequest } from './wire/session-status.js';
export {
  type AssignSessionProjectRequest,
  assignSessionProjectRequest,
  type CreateSessionRequest,
  type CreateSessionResponse,
  createSessionRequest,
  createSessionResponse,
  type GetSessionQuery,
  getSessionQuery,
  getSessionResponse,
  type ListSessionsQuery,
  listSessionsQuery,
  listSessionsResponse,
  type SessionHeartbeatRequest,
  type SessionHeartbeatResponse,
  sessionHeartbeatRequest,
  sessionHeartbeatResponse,
  traceExportResponse,
} from './wire/sessions.js';
export { currentCheckpointStorageUsageResponse, type StorageUsageQuery, storageUsageQuery } from './wire/storage-usage.js';
export {
  type GenericEvent,
  type SessionEndEvent,
  type SessionStartEvent,
  type TelemetryEvent,
  type TelemetryEventBase,
  type TelemetryRequest,
  type TelemetryResponse,
  type TelemetrySeverity,
  telemetryRequest,
  telemetryResponse,
  type UnhandledExceptionEvent,
} from './wire/telemetry.js';
export { datumCodec, forwardBackwardOutput, forwardBackwardRequest } from './wire/training.js';
export {
  type LoadWeightsRequest,
  loadWeightsRequest,
  loadWeightsResponse,
  type SaveWeightsForSamplerRequest,
  type SaveWeightsRequest,
  saveWeightsForSamplerRequest,
  saveWeightsForSamplerResponse,
  saveWeightsRequest,
  saveWeightsResponse,
  type WeightsInfoRequest,
  weightsInfoRequest,
  weightsInfoResponse,
} from './wire/weights.js';
