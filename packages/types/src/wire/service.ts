import { list } from './collections.js';
import { requestObject, responseObject, responseType } from './objects.js';
import { flag, integer, oneOf, text } from './scalars.js';
import { filled, optional } from './wire-type.js';

/** The server is alive. */
export interface HealthResponse {
  readonly status: 'ok';
}

/** {@link HealthResponse} on the wire. */
export const healthResponse = responseObject<HealthResponse>('HealthResponse', { status: oneOf('ok') });

/** A model that can be trained or sampled. */
export interface SupportedModel {
  readonly modelName?: string | undefined;
  /** In tokens. */
  readonly maxContextLength?: number | undefined;
  /** Unset: the server does not say. */
  readonly trainable?: boolean | undefined;
  /** Unset: the server does not say. */
  readonly sampleable?: boolean | undefined;
}

const supportedModelType = responseType<SupportedModel>({
  // Some servers call the name `model_id`.
  modelName: optional(text(), { aliases: ['model_id'] }),
  maxContextLength: optional(integer()),
  trainable: optional(flag()),
  sampleable: optional(flag()),
});

/** What the server can do. */
export interface GetServerCapabilitiesResponse {
  readonly supportedModels: readonly SupportedModel[];
}

/** {@link GetServerCapabilitiesResponse} on the wire. */
export const getServerCapabilitiesResponse = responseObject<GetServerCapabilitiesResponse>('GetServerCapabilitiesResponse', {
  supportedModels: list(supportedModelType),
});

/** Requests the server's configuration of clients. */
export interface ClientConfigRequest {
  /** The version of the reference client that the caller behaves like. */
  readonly sdkVersion: string;
}

/** {@link ClientConfigRequest} on the wire. */
export const clientConfigRequest = requestObject<ClientConfigRequest>('ClientConfigRequest', {
  sdkVersion: text(),
});

/** How the server configures clients. Every flag is present: what the server leaves out has its default. */
export interface ClientConfigResponse {
  /** Whether to exchange the credential for a JWT. Default false. */
  readonly pjwtAuthEnabled: boolean;
  /** `credential_cmd` makes the credential command mandatory. Default `api_key`. */
  readonly credentialDefaultSource: string;
  /** Bytes of prompts submitted at the same time. Default 10485760. */
  readonly sampleDispatchBytesSemaphoreSize: number;
  /** Bytes of large results fetched at the same time. Default 52428800. */
  readonly inflightResponseBytesSemaphoreSize: number;
  /** Submit the chunks of one call together, the first one last. Default true. */
  readonly parallelFwdbwdChunks: boolean;
  /** Compress forward_backward bodies with zstd. Default false. */
  readonly protoCompressFwdbwd: boolean;
  /** Data in a chunk. Default 1024. */
  readonly fwdbwdMaxChunkLen: number;
  /** Estimated bytes of a chunk. Default 5000000. */
  readonly fwdbwdMaxChunkBytesCount: number;
  /** Estimated bytes of chunks submitted at the same time. Default 50000000. */
  readonly fwdbwdDispatchBytesSemaphoreSize: number;
  /** How long a 402 may pause the job, in seconds. Default 3600. */
  readonly billingExceptionMaxPauseDurationSec: number;
  /** Sampling does not retry. Default false. */
  readonly sampleNoRetries: boolean;
  /** Sampling gives up when nothing succeeds for long. Default true. */
  readonly sampleEnableStuckDetection: boolean;
  /** Concurrent sampling calls of a sampling session. Default 2000. */
  readonly sampleMaxConcurrentRequests: number;
  /** Only for the reference client. Default true. */
  readonly usePyqwestTransport: boolean;
  /** Create models from saved weights by one load. Default false. */
  readonly createModelViaLoadWeights: boolean;
  /** Run custom losses on the server. Default false. */
  readonly customLossServerSide: boolean;
  /** Copies of sampling clients request their block of sequence IDs. Default false. */
  readonly sampleJoinSamplingSession: boolean;
  /** One poll for all samples of a sampling session. Default false. */
  readonly sampleUseRetrieveFutures: boolean;
}

/** A flag of the configuration: missing is fine, null is not. */
const setting = <T>(type: Parameters<typeof filled<T>>[0], fallback: T) => filled<T>(type, () => fallback, { allowsNull: false });

/** {@link ClientConfigResponse} on the wire. */
export const clientConfigResponse = responseObject<ClientConfigResponse>('ClientConfigResponse', {
  pjwtAuthEnabled: setting(flag(), false),
  credentialDefaultSource: setting(text(), 'api_key'),
  sampleDispatchBytesSemaphoreSize: setting(integer(), 10_485_760),
  inflightResponseBytesSemaphoreSize: setting(integer(), 52_428_800),
  parallelFwdbwdChunks: setting(flag(), true),
  protoCompressFwdbwd: setting(flag(), false),
  fwdbwdMaxChunkLen: setting(integer(), 1024),
  fwdbwdMaxChunkBytesCount: setting(integer(), 5_000_000),
  fwdbwdDispatchBytesSemaphoreSize: setting(integer(), 50_000_000),
  billingExceptionMaxPauseDurationSec: setting(integer(), 3600),
  sampleNoRetries: setting(flag(), false),
  sampleEnableStuckDetection: setting(flag(), true),
  sampleMaxConcurrentRequests: setting(integer(), 2000),
  usePyqwestTransport: setting(flag(), true),
  createModelViaLoadWeights: setting(flag(), false),
  customLossServerSide: setting(flag(), false),
  sampleJoinSamplingSession: setting(flag(), false),
  sampleUseRetrieveFutures: setting(flag(), false),
});

/** The part of the configuration that is refreshed. */
export interface ClientDynamicConfigResponse {
  /** Seconds until the next refresh. Default 300. */
  readonly refreshIntervalSec: number;
  /** Cancel abandoned samples on the server. Default false. */
  readonly sampleCancelEnabled: boolean;
  /** Samples canceled at the same time. Default 64. */
  readonly sampleCancelMaxBatchSize: number;
}

/** {@link ClientDynamicConfigResponse} on the wire. */
export const clientDynamicConfigResponse = responseObject<ClientDynamicConfigResponse>('ClientDynamicConfigResponse', {
  refreshIntervalSec: setting(integer(), 300),
  sampleCancelEnabled: setting(flag(), false),
  sampleCancelMaxBatchSize: setting(integer(), 64),
});

/** Requests a JWT; the credential is in the header. */
export type AuthTokenRequest = Record<never, never>;

/** {@link AuthTokenRequest} on the wire: an empty object. */
export const authTokenRequest = requestObject<AuthTokenRequest>('AuthTokenRequest', {});

/** A JWT to use in place of the credential. */
export interface AuthTokenResponse {
  readonly jwt: string;
}

/** {@link AuthTokenResponse} on the wire. */
export const authTokenResponse = responseObject<AuthTokenResponse>('AuthTokenResponse', { jwt: text() });

/** The owner of the credential; read from the JWT, without a request. */
export interface WhoamiResponse {
  readonly userUrn: string;
  /** Unset: the credential names no organization. */
  readonly orgUrn?: string | undefined;
  readonly email?: string | undefined;
}

/** {@link WhoamiResponse} on the wire. */
export const whoamiResponse = responseObject<WhoamiResponse>('WhoamiResponse', {
  userUrn: text(),
  orgUrn: optional(text()),
  email: optional(text()),
});

/** The API key of a request, as the service knows it. */
export interface SelfApiKeyResponse {
  readonly keyId: number;
  readonly name: string;
  readonly note: string;
  readonly details: { readonly orgDetails: { readonly name: string }; readonly userDetails: { readonly email: string } };
}

/** {@link SelfApiKeyResponse} on the wire. */
export const selfApiKeyResponse = responseObject<SelfApiKeyResponse>('SelfApiKeyResponse', {
  keyId: integer(),
  name: text(),
  note: text(),
  details: responseType<SelfApiKeyResponse['details']>({
    orgDetails: responseType<{ readonly name: string }>({ name: text() }),
    userDetails: responseType<{ readonly email: string }>({ email: text() }),
  }),
});
