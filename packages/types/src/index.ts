export type {
  CustomLossArgument,
  CustomLossDefinition,
  CustomLossGraph,
  CustomLossInput,
  CustomLossInputRank,
  CustomLossNode,
  CustomLossNodeOp,
} from './custom-loss/custom-loss-graph.js';
export type { LossIndex, LossOperand, LossSlice, LossTensor } from './custom-loss/loss-tensor.js';
export type { LossFunction, LossInputRanks, TracedLoss, TraceOptions } from './custom-loss/trace-loss.js';
export { AbortedError, type AbortedErrorOptions } from './errors/aborted-error.js';
export { ApiStatusError, type ApiStatusErrorOptions } from './errors/api-status-error.js';
export { ConfigurationError, type ConfigurationErrorOptions } from './errors/configuration-error.js';
export { ConnectionError, TimeoutError, type TimeoutErrorOptions, type TimeoutPhase } from './errors/connection-error.js';
export {
  FutureExpiredError,
  type RequestErrorCategory,
  RequestFailedError,
  type RequestFailedErrorOptions,
} from './errors/future-errors.js';
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
  FutureStartEvent,
  FutureUnobservedFailureEvent,
  HeartbeatMissedEvent,
  HttpRequestEvent,
  HttpRetryEvent,
  OperationEvent,
  QueueState,
  QueueStateChangeEvent,
  RateLimitEvent,
  RequestType,
  SamplingCallEvent,
  SessionEvent,
  TrainingOperationEvent,
} from './events/payloads.js';
export type { RunRecoveryEvent, RunRecoveryFailureEvent, RunRestartEvent } from './events/recovery-payloads.js';
export type { JsonNumberArray, JsonObject, JsonValue } from './json/json-value.js';
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
export { consoleUrls } from './paths/console-urls.js';
export type { CheckpointReference, CheckpointType } from './paths/tinker-path.js';
export { formatTinkerPath, parseCheckpointPath, parseTinkerPath, type TinkerPath } from './paths/tinker-path.js';
export type { PromptAltTokens, SampledSequence, SampleResponse, StopReason } from './sampling/sample-response.js';
export { promptLogprobsToList } from './sampling/sample-response.js';
export { type TokenLogprob, TopkLogprobs, type TopkLogprobsFields } from './sampling/topk-logprobs.js';
export type { NestedNumbers, NumberArray, PlainNumbers } from './tensor/flatten.js';
export type { AnyTypedArray, Int64Array } from './tensor/numbers.js';
export { type PadOptions, TensorData, type TensorDtype, type TensorFields } from './tensor/tensor-data.js';
export { BYTE_TOKENIZER_ID, ByteTokenizer, isByteTokenizerId } from './tokenizer/byte-tokenizer.js';
export { type DecodeOptions, type Encoded, encodedIds, type Tokenizer } from './tokenizer/tokenizer.js';
export { type TokenizerSource, tokenizerIdFor } from './tokenizer/tokenizer-id.js';
export { type Datum, type DatumOptions, datum, type NextTokenOptions, nextTokenDatum } from './training/datum.js';
export type { ForwardBackwardOutput, LossFnConfig, LossFnName, LossFnType } from './training/forward-backward.js';
export type { LossFnInputs, LossFnInputsLike, TensorLike } from './training/loss-fn-inputs.js';
export { lossOf } from './training/loss-of.js';
export { type Provenance, type ProvenanceSpan, withProvenance } from './training/provenance.js';
export type {
  AuditEventType,
  AuditLogEntry,
  AuditLogResponse,
  BillingEventInfo,
  BillingUsageEvent,
  BillingUsageResponse,
  BillingUsageSession,
  CheckpointUsage,
  SamplingPrefillUsage,
  SamplingSampleUsage,
  StorageUsage,
  TrainingUsage,
} from './wire/billing.js';
export type {
  Checkpoint,
  CheckpointArchiveUrlResponse,
  CheckpointsListResponse,
  Cursor,
  TrainingRun,
  TrainingRunsResponse,
} from './wire/checkpoints.js';
export type { WireFormat } from './wire/codec.js';
export type { CopyWeightsResponse } from './wire/copy-weights.js';
export type { ExternalWeightsUrlsResponse, SaveWeightsExternalResponse } from './wire/external-weights.js';
export type { GetInfoResponse, LoraConfig, ModelData, UnloadModelResponse } from './wire/models.js';
export type { AdamParams, OptimStepResponse } from './wire/optim-step.js';
export type {
  AdamWOptimizerConfig,
  DimuonOptimizerConfig,
  DimuonParams,
  OptimizerConfig,
  OptimizerFamily,
  OtherOptimizerConfig,
  OtherOptimizerParams,
} from './wire/optimizers.js';
export type { GetSamplerResponse, SamplingParams } from './wire/sampling.js';
export type { OpenText } from './wire/scalars.js';
export type { GetServerCapabilitiesResponse, SupportedModel, WhoamiResponse } from './wire/service.js';
export type {
  SessionOwnerFilter,
  SessionSearchCursor,
  SessionSearchRequest,
  SessionSearchResponse,
  SessionStatusFilter,
  SessionSummary,
} from './wire/session-search.js';
export type { FailedSession, SessionFailureReason, SessionFinishReason, SessionStatus } from './wire/session-status.js';
export type { AccessScope, GetSessionResponse, ListSessionsResponse, TraceExportResponse } from './wire/sessions.js';
export type { CheckpointStorageUsage, CurrentCheckpointStorageUsageResponse } from './wire/storage-usage.js';
export type { OtherKind } from './wire/unions.js';
export type { LoadWeightsResponse, SaveWeightsForSamplerResponse, SaveWeightsResponse, WeightsInfoResponse } from './wire/weights.js';
