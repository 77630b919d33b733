export { AbortedError, type AbortedErrorOptions } from './errors/aborted-error.js';
export { ApiStatusError, type ApiStatusErrorOptions, isRetryableStatus } from './errors/api-status-error.js';
export { ConfigurationError, type ConfigurationErrorOptions } from './errors/configuration-error.js';
export { ConnectionError, TimeoutError, type TimeoutErrorOptions, type TimeoutPhase } from './errors/connection-error.js';
export { apiStatusError, type FailedResponse } from './errors/from-response.js';
export { FutureExpiredError, type RequestErrorCategory, RequestFailedError, type RequestFailedErrorOptions } from './errors/future-errors.js';
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
  SamplingCallEvent,
  SessionEvent,
  TinkexEvent,
  TinkexEventName,
  TinkexEvents,
  TrainingOperationEvent,
} from './events/events.js';
