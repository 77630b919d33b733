// What a program writes and reads besides the clients, so that it needs one package.
export {
  AbortedError,
  type AdamParams,
  ApiStatusError,
  AuthenticationError,
  BadRequestError,
  BillingError,
  type Checkpoint,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  consoleUrls,
  type Datum,
  type DimuonParams,
  datum,
  dmel,
  encodedIds,
  encodedText,
  type ForwardBackwardOutput,
  FutureExpiredError,
  formatTinkerPath,
  image,
  imageAssetPointer,
  type JsonObject,
  type LossFnConfig,
  type LossFnType,
  type LossFunction,
  type LossTensor,
  lossOf,
  ModelInput,
  type ModelInputChunk,
  NotFoundError,
  nextTokenDatum,
  type OptimizerConfig,
  type OptimizerFamily,
  type OptimStepResponse,
  type OtherOptimizerParams,
  PermissionDeniedError,
  type Provenance,
  type ProvenanceSpan,
  parseTinkerPath,
  type QueueState,
  RateLimitError,
  RequestFailedError,
  type SampledSequence,
  type SampleResponse,
  type SamplingParams,
  ServerError,
  type SessionFinishReason,
  type SessionSearchRequest,
  type SessionStatus,
  type SessionSummary,
  type StopReason,
  type SupportedModel,
  TensorData,
  TimeoutError,
  TinkexError,
  type Tokenizer,
  type TracedLoss,
  type TrainingRun,
  UnprocessableEntityError,
  ValidationError,
  type WireFormat,
  withProvenance,
} from '@tinkex/types';
export type { DownloadCheckpointOptions, DownloadedCheckpoint } from './checkpoints/download-checkpoint.js';
export type { DownloadProgress } from './checkpoints/resumable-download.js';
export type { ConnectionOptions, DownloadRules, ServerMessage } from './connection/connection-options.js';
export { ApiFuture } from './futures/api-future.js';
export type { FutureHandle, FutureProgress, FutureStatus, QueueStateChange } from './futures/future-progress.js';
export type { Futures } from './futures/futures.js';
export type { FutureResults } from './futures/result-decoders.js';
export type { ClientLimits } from './limits/client-limits.js';
export type { RateLimiter, RateLimiterState } from './limits/rate-limiter.js';
export { rateLimiterFor } from './limits/rate-limiter-registry.js';
export type { RecoveryEvent } from './recovery/recovery-event.js';
export { RecoveryMonitor, type RecoveryMonitorOptions, type RecoveryRecords, type RecoveryService } from './recovery/recovery-monitor.js';
export type { RecoveryPolicy } from './recovery/recovery-policy.js';
export { AdminClient, type AuditLogOptions, type StorageUsageOptions } from './rest/admin-client.js';
export type { CopiedWeights, CopyWeightsOptions, CopyWeightsToProjectOptions } from './rest/copy-weights.js';
export { type CursorSource, type PageRange, type PageSource, PageStream } from './rest/page-stream.js';
export { type ListOptions, type ListTrainingRunsOptions, RestClient, type ScopeOptions } from './rest/rest-client.js';
export type { CallOptions, WaitOptions } from './runtime/call-options.js';
export type { RetryOptions } from './sampling/retries.js';
export type { Prompt, SampleInput } from './sampling/sample-input.js';
export type { SampleManyFailure, SampleManyItem, SampleManyOptions, SampleManySuccess } from './sampling/sample-many.js';
export {
  type ComputeLogprobsOptions,
  type SamplerOptions,
  SamplingClient,
  type SamplingClientOptions,
  type SamplingService,
} from './sampling/sampling-client.js';
export type { SamplingClientHandle } from './sampling/sampling-handle.js';
export type { ChatClientOptions, ChatModel, NamedChatClientOptions } from './service/chat-endpoints.js';
export type { CloseOptions } from './service/finish-session.js';
export { ServiceClient } from './service/service-client.js';
export type { ServiceClientOptions } from './service/service-options.js';
export type { HuggingFaceTokenizer } from './tokenizers/huggingface-tokenizer.js';
export type { TokenizerOptions } from './tokenizers/tokenizer-library.js';
export type { CustomForwardBackwardOutput, CustomLoss, CustomLossResult, LogprobTensor } from './training/custom-loss.js';
export type { LossHandle } from './training/loss-handle.js';
export type { OptimStepParams } from './training/optimizer-settings.js';
export type { ResumedTraining, ResumeOptions } from './training/resume.js';
export type { CustomLossOptions } from './training/session-losses.js';
export { TrainingClient } from './training/training-client.js';
export type {
  FromStateOptions,
  FromWeightsOptions,
  LoadStateOptions,
  LoraTrainingOptions,
  PassOptions,
  SavedExternalWeights,
  SavedSamplerWeights,
  SaveStateOptions,
  SaveWeightsExternalOptions,
  SaveWeightsForSamplerOptions,
} from './training/training-options.js';
