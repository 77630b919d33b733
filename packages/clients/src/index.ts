export type { CallOptions, WaitOptions } from './runtime/call-options.js';
export type { DownloadCheckpointOptions, DownloadedCheckpoint } from './checkpoints/download-checkpoint.js';
export type { DownloadProgress } from './checkpoints/resumable-download.js';
export { ApiFuture } from './futures/api-future.js';
export type { FutureResults, Futures } from './futures/futures.js';
export type { FutureHandle, FutureProgress, FutureStatus, QueueStateChange } from './futures/future-progress.js';
export { rateLimiterFor } from './limits/rate-limiter-registry.js';
export { RateLimiter, type RateLimiterState } from './limits/rate-limiter.js';
export type { RecoveryEvent } from './recovery/recovery-event.js';
export { RecoveryMonitor, type RecoveryMonitorOptions, type RecoveryRecords, type RecoveryService } from './recovery/recovery-monitor.js';
export type { RecoveryPolicy } from './recovery/recovery-policy.js';
export { type PageRange, type PageSource, PageStream } from './rest/page-stream.js';
export { type AuditLogOptions, type ListOptions, type ListTrainingRunsOptions, RestClient, type ScopeOptions } from './rest/rest-client.js';
export type { RetryDelayOptions } from './sampling/retry-delay.js';
export type { RetryOptions } from './sampling/retries.js';
export type { Prompt, SampleInput } from './sampling/sample-input.js';
export type { SampleManyFailure, SampleManyItem, SampleManyOptions, SampleManySuccess } from './sampling/sample-many.js';
export { SamplingClient, type SamplingClientOptions, type SamplingConnector } from './sampling/sampling-client.js';
export type { SamplingClientHandle } from './sampling/sampling-handle.js';
export type { ClientLimits } from './service/connection.js';
export { ServiceClient } from './service/service-client.js';
export type { ServerMessage, ServiceClientOptions, WireFormat } from './service/service-options.js';
export type { HuggingFaceTokenizer } from './tokenizers/huggingface-tokenizer.js';
export type { TokenizerOptions } from './tokenizers/tokenizer-library.js';
export type { CustomForwardBackwardOutput, CustomLoss, CustomLossResult, LogprobTensor } from './training/custom-loss.js';
export type { ResumedTraining, ResumeOptions } from './training/resume.js';
export { TrainingClient } from './training/training-client.js';
export type {
  FromStateOptions,
  LoadStateOptions,
  LoraTrainingOptions,
  PassOptions,
  SavedSamplerWeights,
  SaveStateOptions,
  SaveWeightsForSamplerOptions,
} from './training/training-options.js';
