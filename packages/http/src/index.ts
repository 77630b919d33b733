export { apiKeyAuth } from './auth/api-key.js';
export type { AuthProvider } from './auth/auth-provider.js';
export { type CredentialCommand, type CredentialCommandOptions, credentialCommand } from './auth/credential-command.js';
export { type JwtAuth, type JwtAuthOptions, jwtAuth } from './auth/jwt-auth.js';
export { type JwtIdentity, jwtExpirySeconds, jwtIdentity, readJwtClaims } from './auth/jwt-claims.js';
export { type JwtRefreshPlan, planJwtRefresh } from './auth/jwt-refresh.js';
export type { Command } from './auth/run-command.js';
export { type CredentialSources, type SelectedCredential, selectCredential } from './auth/select-credential.js';
export { HttpClient } from './client/http-client.js';
export type { HttpClientOptions } from './client/http-client-options.js';
export { HttpPromise } from './client/http-promise.js';
export type { BaseRequestOptions, HttpResult, HttpStream, RawResponse, RequestOptions, StreamOptions } from './client/request-options.js';
export { type Clock, systemClock } from './clock/clock.js';
export type { Random } from './clock/random.js';
export { keepAlive, type SleepOptions, sleep } from './clock/sleep.js';
export { hasSubscribers, publish, subscribe } from './diagnostics/channels.js';
export { cloudflareAccessHeaders, type ProxySettings, proxyFromEnvironment } from './environment.js';
export type { Middleware, Send } from './pipeline/middleware.js';
export { type BackoffOptions, backoff } from './retry/backoff.js';
export {
  FailedResponse,
  type Failure,
  type Pause,
  type Retry,
  type RetryPolicy,
  type RetryStrategy,
  retry,
  withAttempts,
} from './retry/retry.js';
export type { RetryInfo } from './retry/retry-stage.js';
export { type HttpStrategyOptions, httpStrategy, type OuterStrategyOptions, outerStrategy } from './retry/strategies.js';
export { createResponse, type ResponseInit } from './transport/create-response.js';
export type {
  Cancellation,
  CancellationListener,
  RequestProgress,
  Transport,
  TransportBody,
  TransportRequest,
  TransportResponse,
} from './transport/transport.js';
export { UndiciTransport, type UndiciTransportOptions } from './transport/undici-transport.js';
export { normalizeBaseUrl } from './url/base-url.js';
export { encodeQuery, type Query, type QueryValue } from './url/encode-query.js';
export { joinUrl } from './url/join-url.js';
