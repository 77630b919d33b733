import { auditLogQuery, auditLogResponse, billingUsageQuery, billingUsageResponse } from '../wire/billing.js';
import {
  checkpointArchiveUrlResponse,
  checkpointsListResponse,
  getTrainingRunQuery,
  listTrainingRunsQuery,
  listUserCheckpointsQuery,
  setCheckpointTtlRequest,
  trainingRun,
  trainingRunsResponse,
} from '../wire/checkpoints.js';
import { copyWeightsRequest, copyWeightsResponse } from '../wire/copy-weights.js';
import { createCustomLossRequest, createCustomLossResponse } from '../wire/custom-loss.js';
import { externalWeightsUrlsResponse, saveWeightsExternalRequest, saveWeightsExternalResponse } from '../wire/external-weights.js';
import {
  cancelFutureRequest,
  futureRetrieveRequest,
  futuresRetrieveRequest,
  futuresRetrieveResponse,
  untypedApiFuture,
} from '../wire/futures.js';
import {
  createModelRequest,
  createModelResponse,
  getInfoRequest,
  getInfoResponse,
  unloadModelRequest,
  unloadModelResponse,
} from '../wire/models.js';
import { optimStepRequest, optimStepResponse } from '../wire/optim-step.js';
import {
  createSamplingSessionRequest,
  createSamplingSessionResponse,
  getSamplerResponse,
  joinSamplingSessionRequest,
  joinSamplingSessionResponse,
  sampleRequest,
  sampleResponse,
} from '../wire/sampling.js';
import {
  authTokenRequest,
  authTokenResponse,
  clientConfigRequest,
  clientConfigResponse,
  clientDynamicConfigResponse,
  getServerCapabilitiesResponse,
  healthResponse,
  selfApiKeyResponse,
} from '../wire/service.js';
import { sessionSearchRequest, sessionSearchResponse } from '../wire/session-search.js';
import { finishSessionRequest } from '../wire/session-status.js';
import {
  assignSessionProjectRequest,
  createSessionRequest,
  createSessionResponse,
  getSessionQuery,
  getSessionResponse,
  listSessionsQuery,
  listSessionsResponse,
  sessionHeartbeatRequest,
  sessionHeartbeatResponse,
  traceExportResponse,
} from '../wire/sessions.js';
import { currentCheckpointStorageUsageResponse, storageUsageQuery } from '../wire/storage-usage.js';
import { telemetryRequest, telemetryResponse } from '../wire/telemetry.js';
import { forwardBackwardOutput, forwardBackwardRequest } from '../wire/training.js';
import {
  loadWeightsRequest,
  loadWeightsResponse,
  saveWeightsForSamplerRequest,
  saveWeightsForSamplerResponse,
  saveWeightsRequest,
  saveWeightsResponse,
  weightsInfoRequest,
  weightsInfoResponse,
} from '../wire/weights.js';
import type { Endpoint } from './endpoint.js';

const RUN = '/api/v1/training_runs/{training_run_id}';
const CHECKPOINT = `${RUN}/checkpoints/{checkpoint_id}` as const;
const SESSION = '/api/v1/sessions/{session_id}';

/** A future, an ID, a few settings. */
const SMALL_BYTES = 2 ** 20;
/** A page of a list, with what users have stored in it. */
const LIST_BYTES = 2 ** 26;

/** The settings that most endpoints share: the client's HTTP retries and attempt timeout, the outer retry layer, and small answers. */
const usual = { maxRetries: 'default', outerRetry: true, timeoutMs: 'default', maxResponseBytes: SMALL_BYTES } as const;
const get = { ...usual, method: 'GET', pool: 'train', maxResponseBytes: LIST_BYTES } as const;
const post = { ...usual, method: 'POST', pool: 'train' } as const;
const remove = { ...usual, method: 'DELETE', pool: 'train' } as const;
const put = { ...usual, method: 'PUT', pool: 'train' } as const;
const ownKey = { path: '/api/v1/auth/apikey/me', pool: 'default', maxRetries: 0, outerRetry: false, timeoutMs: 30_000 } as const;
/** An operation: it is answered by a future. */
const operation = { ...post, response: untypedApiFuture } as const;

/**
 * Every endpoint of the API, with its method, path, codecs, and how the reference client retries and times it. `forward` is the
 * legacy JSON endpoint of older servers.
 */
export const endpoints = {
  healthz: { ...get, path: '/api/v1/healthz', pool: 'default', outerRetry: false, response: healthResponse },
  getServerCapabilities: { ...get, path: '/api/v1/get_server_capabilities', response: getServerCapabilitiesResponse },
  clientConfig: { ...post, path: '/api/v1/client/config', pool: 'one-off', request: clientConfigRequest, response: clientConfigResponse },
  /** Wrapped by the outer retry layer at start only, not when it is refreshed. */
  clientDynamicConfig: {
    ...post,
    path: '/api/v1/client/dynamic_config',
    pool: 'session',
    maxRetries: 0,
    timeoutMs: 10_000,
    request: clientConfigRequest,
    response: clientDynamicConfigResponse,
  },
  /** Wrapped by the outer retry layer at start only, not when the token is refreshed. */
  authToken: { ...post, path: '/api/v1/auth/token', pool: 'auth', request: authTokenRequest, response: authTokenResponse },
  createSession: {
    ...post,
    path: '/api/v1/create_session',
    pool: 'session',
    outerRetry: false,
    request: createSessionRequest,
    response: createSessionResponse,
  },
  sessionHeartbeat: {
    ...post,
    path: '/api/v1/session_heartbeat',
    pool: 'session',
    maxRetries: 0,
    outerRetry: false,
    timeoutMs: 10_000,
    request: sessionHeartbeatRequest,
    response: sessionHeartbeatResponse,
  },
  createSamplingSession: {
    ...post,
    path: '/api/v1/create_sampling_session',
    pool: 'session',
    outerRetry: false,
    request: createSamplingSessionRequest,
    response: createSamplingSessionResponse,
  },
  joinSamplingSession: {
    ...post,
    path: '/api/v1/join_sampling_session',
    pool: 'session',
    request: joinSamplingSessionRequest,
    response: joinSamplingSessionResponse,
  },
  createModel: {
    ...operation,
    path: '/api/v1/create_model',
    outerRetry: false,
    request: createModelRequest,
    result: createModelResponse,
    requestType: 'CreateModel',
  },
  getInfo: { ...post, path: '/api/v1/get_info', request: getInfoRequest, response: getInfoResponse },
  unloadModel: {
    ...operation,
    path: '/api/v1/unload_model',
    pool: 'default',
    outerRetry: false,
    request: unloadModelRequest,
    result: unloadModelResponse,
    requestType: 'UnloadModel',
  },
  /** The codecs are for JSON; `protobuf` has the others. */
  forwardBackward: {
    ...operation,
    path: '/api/v1/forward_backward',
    request: forwardBackwardRequest,
    result: forwardBackwardOutput,
    requestType: 'ForwardBackward',
  },
  /** JSON only: servers that read protobuf take `forwardOnly` at `forwardBackward`. */
  forward: {
    ...operation,
    path: '/api/v1/forward',
    request: forwardBackwardRequest,
    result: forwardBackwardOutput,
    requestType: 'Forward',
  },
  createCustomLoss: {
    ...operation,
    path: '/api/v1/create_custom_loss',
    request: createCustomLossRequest,
    result: createCustomLossResponse,
    requestType: 'CreateCustomLoss',
  },
  optimStep: { ...operation, path: '/api/v1/optim_step', request: optimStepRequest, result: optimStepResponse, requestType: 'OptimStep' },
  loadWeights: {
    ...operation,
    path: '/api/v1/load_weights',
    request: loadWeightsRequest,
    result: loadWeightsResponse,
    requestType: 'LoadWeights',
  },
  saveWeights: {
    ...operation,
    path: '/api/v1/save_weights',
    maxRetries: 0,
    request: saveWeightsRequest,
    result: saveWeightsResponse,
    requestType: 'SaveWeights',
  },
  saveWeightsForSampler: {
    ...operation,
    path: '/api/v1/save_weights_for_sampler',
    maxRetries: 0,
    request: saveWeightsForSamplerRequest,
    result: saveWeightsForSamplerResponse,
    requestType: 'SaveWeightsForSampler',
  },
  saveWeightsExternal: {
    ...operation,
    path: '/api/v1/save_weights_external',
    maxRetries: 0,
    request: saveWeightsExternalRequest,
    result: saveWeightsExternalResponse,
    requestType: 'SaveWeightsExternal',
  },
  /** One idempotency key for all attempts of both retry layers. */
  copyWeights: { ...post, path: '/api/v1/copy_weights', request: copyWeightsRequest, response: copyWeightsResponse },
  asample: {
    ...operation,
    path: '/api/v1/asample',
    pool: 'sample',
    maxRetries: 0,
    request: sampleRequest,
    result: sampleResponse,
    requestType: 'Sample',
  },
  /** Polled in a loop; the answer is a result, `tryAgainResponse`, `futureMetadataResponse` or `requestFailedResponse`. */
  retrieveFuture: {
    ...post,
    path: '/api/v1/retrieve_future',
    pool: 'retrieve_promise',
    maxRetries: 0,
    outerRetry: false,
    timeoutMs: 45_000,
    maxResponseBytes: 'default',
    request: futureRetrieveRequest,
  },
  /** Has its own loop: one request for all samples of one holder of a sampling session. */
  retrieveFutures: {
    ...post,
    path: '/api/v1/retrieve_futures',
    pool: 'retrieve_futures',
    maxRetries: 0,
    outerRetry: false,
    timeoutMs: 45_000,
    maxResponseBytes: LIST_BYTES,
    request: futuresRetrieveRequest,
    response: futuresRetrieveResponse,
  },
  cancelFuture: {
    ...post,
    path: '/api/v1/cancel_future',
    pool: 'retrieve_promise',
    maxRetries: 0,
    timeoutMs: 30_000,
    request: cancelFutureRequest,
  },
  telemetry: {
    ...post,
    path: '/api/v1/telemetry',
    pool: 'telemetry',
    outerRetry: false,
    timeoutMs: 5_000,
    request: telemetryRequest,
    response: telemetryResponse,
  },
  listTrainingRuns: { ...get, path: '/api/v1/training_runs', query: listTrainingRunsQuery, response: trainingRunsResponse },
  getTrainingRun: { ...get, path: RUN, query: getTrainingRunQuery, response: trainingRun },
  listCheckpoints: { ...get, path: `${RUN}/checkpoints`, response: checkpointsListResponse },
  deleteCheckpoint: { ...remove, path: CHECKPOINT },
  /** Redirects are not followed: a 302 carries the URL. */
  checkpointArchive: { ...get, path: `${CHECKPOINT}/archive`, pool: 'rest_support_redirect', response: checkpointArchiveUrlResponse },
  externalWeightsUrls: { ...get, path: `${CHECKPOINT}/external_weights_urls`, response: externalWeightsUrlsResponse },
  publishCheckpoint: { ...post, path: `${CHECKPOINT}/publish` },
  unpublishCheckpoint: { ...remove, path: `${CHECKPOINT}/publish` },
  setCheckpointTtl: { ...put, path: `${CHECKPOINT}/ttl`, request: setCheckpointTtlRequest },
  listUserCheckpoints: { ...get, path: '/api/v1/checkpoints', query: listUserCheckpointsQuery, response: checkpointsListResponse },
  weightsInfo: {
    ...post,
    maxResponseBytes: LIST_BYTES,
    path: '/api/v1/weights_info',
    request: weightsInfoRequest,
    response: weightsInfoResponse,
  },
  listSessions: { ...get, path: '/api/v1/sessions', query: listSessionsQuery, response: listSessionsResponse },
  getSession: { ...get, path: SESSION, query: getSessionQuery, response: getSessionResponse },
  /** Ends a session; the first reason stays. */
  finishSession: { ...post, path: `${SESSION}/finish`, request: finishSessionRequest },
  searchSessions: {
    ...post,
    maxResponseBytes: LIST_BYTES,
    path: '/api/v1/sessions/search',
    request: sessionSearchRequest,
    response: sessionSearchResponse,
  },
  assignSessionProject: { ...put, path: `${SESSION}/project`, request: assignSessionProjectRequest },
  exportSessionTrace: { ...get, maxResponseBytes: 'default', path: `${SESSION}/trace_export`, response: traceExportResponse },
  getSampler: { ...get, path: '/api/v1/samplers/{sampler_id}', response: getSamplerResponse },
  auditLog: { ...get, path: '/api/v1/audit', pool: 'rest_support_redirect', query: auditLogQuery, response: auditLogResponse },
  billingUsage: { ...get, path: '/api/v1/billing/usage/events', query: billingUsageQuery, response: billingUsageResponse },
  currentCheckpointStorageUsage: {
    ...get,
    path: '/api/v1/billing/usage/checkpoints/current',
    query: storageUsageQuery,
    response: currentCheckpointStorageUsageResponse,
  },
  /** Of command lines: whose key it is. */
  getOwnApiKey: { ...get, ...ownKey, response: selfApiKeyResponse },
  /** Of command lines: the key revokes itself. */
  revokeOwnApiKey: { ...remove, ...ownKey },
} as const satisfies Readonly<Record<string, Endpoint>>;

/** The name of an endpoint. */
export type EndpointName = keyof typeof endpoints;
