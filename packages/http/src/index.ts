export { onAbort } from './abort/on-abort.js';
export { apiKeyAuth } from './auth/api-key.js';
export type { AuthProvider } from './auth/auth-provider.js';
export { type CredentialCommand, type CredentialCommandOptions, credentialCommand } from './auth/credential-command.js';
export { type JwtAuth, type JwtAuthOptions, jwtAuth } from './auth/jwt-auth.js';
export { readJwtClaims } from './auth/jwt-claims.js';
export type { Command } from './auth/run-command.js';
export { type CredentialSources, type SelectedCredential, selectCredential } from './auth/select-credential.js';
export { readStoredKey } from './auth/stored-key.js';
export type { DeprecationNotice, HttpClientOptions } from './call/http-client-options.js';
export { REFERENCE_SDK_VERSION } from './call/request-headers.js';
export type {
  BaseRequestOptions,
  HttpResult,
  HttpStream,
  RawResponse,
  RequestOptions,
  ResponseFacts,
  RetryInfo,
  StreamOptions,
} from './call/request-options.js';
export { HttpClient, type HttpPromise } from './client/http-client.js';
export { type Clock, type Random, systemClock } from './clock/clock.js';
export { betweenMs, elapsedMs, type MonotonicTime, monotonicTime, NEVER, remainingMs, timeAfter } from './clock/monotonic-time.js';
export { keepAlive, type SleepOptions, sleep } from './clock/sleep.js';
export { hasSubscribers, publish, subscribe } from './diagnostics/channels.js';
export type { ProxySettings } from './environment.js';
export { type BackoffOptions, backoff } from './retry/backoff.js';
export {
  type Failure,
  type Pause,
  type Retry,
  type RetryPolicy,
  type RetryStrategy,
  retry,
  UnsuccessfulResponse,
  withAttempts,
} from './retry/retry.js';
export { type HttpStrategyOptions, httpStrategy, type OuterStrategyOptions, outerStrategy } from './retry/strategies.js';
export { defaultTransport } from './transport/default-transport.js';
export {
  type Cancellation,
  type CancellationListener,
  createResponse,
  type Middleware,
  type RequestProgress,
  type ResponseInit,
  type Send,
  type Transport,
  type TransportBody,
  type TransportRequest,
  type TransportResponse,
} from './transport/transport.js';
export { UndiciTransport, type UndiciTransportOptions } from './transport/undici-transport.js';
export { normalizeBaseUrl, type Query, type QueryValue } from './url/url.js';
