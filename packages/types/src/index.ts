export type { Endpoint, EndpointPool, HttpMethod } from './endpoints/endpoint.js';
export { type EndpointName, endpoints } from './endpoints/endpoints.js';
export { AbortedError, type AbortedErrorOptions } from './errors/aborted-error.js';
export { ApiStatusError, type ApiStatusErrorOptions, isRetryableStatus } from './errors/api-status-error.js';
export { ConfigurationError, type ConfigurationErrorOptions } from './errors/configuration-error.js';
export { ConnectionError, TimeoutError, type TimeoutErrorOptions, type TimeoutPhase } from './errors/connection-error.js';
export { apiStatusError, type FailedResponse } from './errors/from-response.js';
export {
  FutureExpiredError,
  type RequestErrorCategory,
  RequestFailedError,
  type RequestFailedErrorOptions,
} from './errors/future-errors.js';
export { keepSafeHeaders, REDACTED, redactSecrets, SAFE_HEADERS } from './errors/redaction.js';
export { retryAfterMs } from './errors/retry-after.js';
export {
  AuthenticationError,
  BadRequestError,
  BillingError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  type RateLimitErrorOptions,
  ServerError,
  UnprocessableEntityError,
} from './errors/status-errors.js';
export { TinkexError, type TinkexErrorOptions } from './errors/tinkex-error.js';
export { isUserError } from './errors/user-error.js';
export { ValidationError, type ValidationErrorOptions, type ValidationIssue } from './errors/validation-error.js';
export type { TinkexEvent, TinkexEventName, TinkexEvents } from './events/events.js';
export type {
  CheckpointEvent,
  ChunkSubmitEvent,
  DownloadProgressEvent,
  EventSource,
  FuturePollEvent,
  FutureSettledEvent,
  FutureUnobservedFailureEvent,
  HeartbeatMissedEvent,
  HttpRequestEvent,
  HttpRetryEvent,
  OperationEvent,
  QueueState,
  QueueStateChangeEvent,
  RateLimitEvent,
  RequestType,
  RunRecoveryEvent,
  RunRecoveryFailureEvent,
  RunRestartEvent,
  SamplingCallEvent,
  SessionEvent,
  TrainingOperationEvent,
} from './events/payloads.js';
export { isPlainObject, type JsonNumberArray, type JsonObject, type JsonValue } from './json/json-value.js';
export { parseJson } from './json/parse.js';
export { stringifyJson } from './json/stringify.js';
export {
  chunkLength,
  type DmelChunk,
  dmel,
  type EncodedTextChunk,
  encodedText,
  type ImageAssetPointerChunk,
  type ImageChunk,
  type ImageFormat,
  image,
  imageAssetPointer,
  type ModelInputChunk,
} from './model-input/chunks.js';
export { ModelInput } from './model-input/model-input.js';
export { tensorContainerShape } from './model-input/tensor-container.js';
export { formatTinkerPath, parseTinkerPath, type TinkerPath } from './paths/tinker-path.js';
export { type BytesCodec, type PlacedBytesCodec, PROTOBUF_CONTENT_TYPE, protobuf } from './proto/protobuf.js';
export { readSubmissionHead, type SubmissionHead } from './proto/submission-head.js';
export { promptLogprobsToList } from './sampling/prompt-logprobs.js';
export { type TokenLogprob, TopkPromptLogprobs, type TopkPromptLogprobsFields } from './sampling/topk-prompt-logprobs.js';
export type { NestedNumbers, NumberArray } from './tensor/flatten.js';
export type { AnyTypedArray, Int64Array } from './tensor/numbers.js';
export { TensorData, type TensorDtype, type TensorFields } from './tensor/tensor-data.js';
export { BYTE_TOKENIZER_ID, type ByteDecodeOptions, ByteTokenizer, isByteTokenizerId } from './tokenizer/byte-tokenizer.js';
export { byteVocabulary } from './tokenizer/byte-vocabulary.js';
export { type Encoded, encodedIds, type Tokenizer } from './tokenizer/tokenizer.js';
export { type TokenizerSource, tokenizerIdFor } from './tokenizer/tokenizer-id.js';
export { estimateDatumBytes, estimatePromptBytes } from './training/byte-estimates.js';
export { type ChunkLimits, chunkData, type DataChunk } from './training/chunk-data.js';
export { combineForwardBackwardOutputs } from './training/combine-outputs.js';
export { type Datum, type DatumOptions, datum, type NextTokenOptions, nextTokenDatum } from './training/datum.js';
export { type LossFnInputs, type LossFnInputsLike, lossFnInput, type TensorLike } from './training/loss-fn-inputs.js';
export { type ChunkMetrics, type ReduceMetricsOptions, reduceMetrics } from './training/reduce-metrics.js';
export { unorderedHash } from './training/unordered-hash.js';
export {
  type AuditLogEntry,
  type AuditLogQuery,
  type AuditLogResponse,
  auditLogQuery,
  auditLogResponse,
  type BillingEventInfo,
  type BillingUsageEvent,
  type BillingUsageQuery,
  type BillingUsageResponse,
  type BillingUsageSession,
  billingUsageQuery,
  billingUsageResponse,
  type CheckpointUsage,
  type OtherUsage,
  type SamplingPrefillUsage,
  type SamplingSampleUsage,
  type StorageUsage,
  type TrainingUsage,
} from './wire/billing.js';
export {
  type Checkpoint,
  type CheckpointArchiveUrlResponse,
  type CheckpointsListResponse,
  type CheckpointType,
  type Cursor,
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
  type TrainingRun,
  type TrainingRunsResponse,
  trainingRun,
  trainingRunsResponse,
} from './wire/checkpoints.js';
export type { AnyCodec, Codec, Infer } from './wire/codec.js';
export {
  type FutureMetadataResponse,
  type FutureRetrieveRequest,
  futureMetadataResponse,
  futureRetrieveRequest,
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
  type GetInfoResponse,
  getInfoRequest,
  getInfoResponse,
  type LoraConfig,
  loraConfig,
  type ModelData,
  type ResolvedLoraConfig,
  resolveLoraConfig,
  type UnloadModelRequest,
  type UnloadModelResponse,
  unloadModelRequest,
  unloadModelResponse,
} from './wire/models.js';
export {
  type CreateSamplingSessionRequest,
  type CreateSamplingSessionResponse,
  createSamplingSessionRequest,
  createSamplingSessionResponse,
  type GetSamplerResponse,
  getSamplerResponse,
  type ResolvedSamplingParams,
  resolveSamplingParams,
  type SampledSequence,
  type SampleRequest,
  type SampleResponse,
  type SamplingParams,
  type StopReason,
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
  type GetServerCapabilitiesResponse,
  getServerCapabilitiesResponse,
  type HealthResponse,
  healthResponse,
  type SupportedModel,
  type WhoamiResponse,
  whoamiResponse,
} from './wire/service.js';
export {
  type AccessScope,
  type AssignSessionProjectRequest,
  assignSessionProjectRequest,
  type CreateSessionRequest,
  type CreateSessionResponse,
  createSessionRequest,
  createSessionResponse,
  type GetSessionQuery,
  type GetSessionResponse,
  getSessionQuery,
  getSessionResponse,
  type ListSessionsQuery,
  type ListSessionsResponse,
  listSessionsQuery,
  listSessionsResponse,
  type SessionHeartbeatRequest,
  type SessionHeartbeatResponse,
  sessionHeartbeatRequest,
  sessionHeartbeatResponse,
  type TraceExportResponse,
  traceExportResponse,
} from './wire/sessions.js';
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
export {
  type AdamParams,
  adamParams,
  DEFAULT_ADAM_PARAMS,
  datumCodec,
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  forwardBackwardOutput,
  forwardBackwardRequest,
  type LossFnType,
  type OptimStepRequest,
  type OptimStepResponse,
  optimStepRequest,
  optimStepResponse,
  resolveAdamParams,
} from './wire/training.js';
export { unknownFields } from './wire/unknown-fields.js';
export {
  type LoadWeightsRequest,
  type LoadWeightsResponse,
  loadWeightsRequest,
  loadWeightsResponse,
  type SaveWeightsForSamplerRequest,
  type SaveWeightsForSamplerResponse,
  type SaveWeightsRequest,
  type SaveWeightsResponse,
  saveWeightsForSamplerRequest,
  saveWeightsForSamplerResponse,
  saveWeightsRequest,
  saveWeightsResponse,
  type WeightsInfoRequest,
  type WeightsInfoResponse,
  weightsInfoRequest,
  weightsInfoResponse,
} from './wire/weights.js';
