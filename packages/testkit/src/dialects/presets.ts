import { endpoints } from '@tinkex/types/wire';
import type { RouteName } from '../routes/route-types.js';
import { type Dialect, HOSTED } from './dialect.js';

/** The routes of the smallest servers. A route that is added to the API is missing there without an edit. */
const SMALLEST_SERVER_ROUTES: readonly RouteName[] = [
  'healthz',
  'getServerCapabilities',
  'clientConfig',
  'createSession',
  'sessionHeartbeat',
  'createSamplingSession',
  'createModel',
  'getInfo',
  'unloadModel',
  'forwardBackward',
  'forward',
  'optimStep',
  'loadWeights',
  'saveWeights',
  'saveWeightsForSampler',
  'asample',
  'retrieveFuture',
  'weightsInfo',
  'getSampler',
];
const BEYOND_SMALLEST_SERVER = (Object.keys(endpoints) as RouteName[]).filter((route) => !SMALLEST_SERVER_ROUTES.includes(route));

/** Routes of SDK 0.26 and later, which servers of others lack. */
const NEWER_ROUTES: readonly RouteName[] = [
  'cancelFuture',
  'copyWeights',
  'createCustomLoss',
  'currentCheckpointStorageUsage',
  'externalWeightsUrls',
  'finishSession',
  'getOwnApiKey',
  'joinSamplingSession',
  'retrieveFutures',
  'revokeOwnApiKey',
  'saveWeightsExternal',
  'searchSessions',
];
const ANY_TTL: Dialect['ttlSeconds'] = { min: 1, max: Number.MAX_SAFE_INTEGER };

/** Reads and writes the format that the client prefers, and accepts any key. Good for trying out any client. */
const BOTH: Dialect = {
  ...HOSTED,
  name: 'both',
  requestFormats: ['protobuf', 'json'],
  resultFormat: 'accept',
  missingRoutes: [],
  keys: 'any',
};

const JSON_ONLY: Dialect = {
  ...HOSTED,
  name: 'json',
  requestFormats: ['json'],
  refusedFormatStatus: 415,
  resultFormat: 'json',
  missingRoutes: [],
};

/** Routes beside training and sampling that SkyRL has. */
const SKYRL_ROUTES: readonly RouteName[] = ['telemetry', 'listTrainingRuns', 'getTrainingRun', 'listCheckpoints', 'checkpointArchive'];

/**
 * SkyRL's server as PyPI has it (`skyrl-tx`): JSON, and 500 for protobuf; numeric future ids, long holds, failures as statuses, no configuration
 * endpoints, no metrics, 500 for a taken name, no `overwrite`, bare checkpoint ids, sampler paths without a segment.
 */
const SKYRL_TX: Dialect = {
  ...JSON_ONLY,
  name: 'skyrl-tx',
  refusedFormatStatus: 500,
  ids: 'number',
  longPollMs: 300_000,
  failure: 'detail',
  ttlSeconds: ANY_TTL,
  missingRoutes: ['clientConfig', 'getSampler', ...BEYOND_SMALLEST_SERVER.filter((route) => !SKYRL_ROUTES.includes(route))],
  nameClash: 'error',
  checkpointName: /^[A-Za-z0-9_-]{1,255}$/,
  samplerSegment: '',
  checkpointIds: 'bare',
  promptLogprobs: 'shifted',
  stops: 'lists',
  isMaxTokensRequired: true,
  metrics: 'none',
  hasModelDetails: false,
  hasTimeZone: false,
  keys: 'any',
  hasSequenceIds: false,
};

/**
 * SkyRL's server as its repository has it: both wire formats, zstd, `client/config`, 409 for a taken name, loads only into a model that has not
 * been trained.
 */
const SKYRL: Dialect = {
  ...SKYRL_TX,
  name: 'skyrl',
  requestFormats: ['protobuf', 'json'],
  refusedFormatStatus: 415,
  resultFormat: 'accept',
  missingRoutes: SKYRL_TX.missingRoutes.filter((route) => route !== 'clientConfig'),
  nameClash: 'conflict',
  loads: 'untrained',
};

/** Protobuf, UUIDs, try-again answers, 202 on submission, no gaps in sequence IDs, names that may be used twice, archives on the server's disk. */
const TUFT: Dialect = {
  ...HOSTED,
  name: 'tuft',
  resultFormat: 'accept',
  submitStatus: 202,
  ids: 'uuid',
  longPollMs: 120_000,
  pending: 'try-again',
  failure: 'detail',
  failureStatus: 422,
  ttlSeconds: ANY_TTL,
  missingRoutes: [
    ...NEWER_ROUTES,
    'forward',
    'clientDynamicConfig',
    'auditLog',
    'billingUsage',
    'exportSessionTrace',
    'assignSessionProject',
    'setCheckpointTtl',
  ],
  missingStatus: 405,
  order: 'gapless',
  repeat: 'conflict',
  nameClash: 'overwrite',
  archive: 'file',
  keys: 'any',
  clientConfig: { parallel_fwdbwd_chunks: false },
  hasSequenceIds: false,
};

/** JSON, and 500 for protobuf; polls answered immediately, blank 408, few routes, no keys, no prompt log-probabilities, stops ignored. */
const OPEN_RL: Dialect = {
  ...JSON_ONLY,
  name: 'open-rl',
  refusedFormatStatus: 500,
  submitStatus: 201,
  longPollMs: 0,
  pending: 'timeout-blank',
  failure: 'error-message',
  ttlSeconds: ANY_TTL,
  missingRoutes: ['forward', 'unloadModel', 'weightsInfo', ...BEYOND_SMALLEST_SERVER],
  order: 'strict',
  nameClash: 'overwrite',
  samplerSegment: '',
  checkpointIds: 'bare',
  promptLogprobs: 'none',
  stops: 'ignored',
  modelNameKey: 'model_id',
  hasModelDetails: false,
  keys: 'none',
  clientConfig: { parallel_fwdbwd_chunks: false },
  hasSequenceIds: false,
};

/** Either format by `Accept`, newer fields, refuses unknown SDK versions. */
const HATCHERY: Dialect = {
  ...BOTH,
  name: 'hatchery',
  longPollMs: 30_000,
  pending: 'try-again',
  failureCategory: 'none',
  clientConfig: { proto_write_fwdbwd: true, some_future_flag: 'on' },
  ttlSeconds: ANY_TTL,
  missingRoutes: [...NEWER_ROUTES, 'authToken', 'auditLog', 'billingUsage'],
  sdkVersions: /^(?!0\.0\.)\d+\.\d+\.\d+/,
};

/** JSON, UUIDs, 60 s holds, failures as 200 with an upper-case category, most REST routes missing. */
const TWINKLE: Dialect = {
  ...JSON_ONLY,
  name: 'twinkle',
  refusedFormatStatus: 422,
  ids: 'uuid',
  longPollMs: 60_000,
  pending: 'timeout-blank',
  failure: 'category',
  failureCategory: 'upper',
  ttlSeconds: ANY_TTL,
  missingRoutes: BEYOND_SMALLEST_SERVER,
  nameClash: 'conflict',
  checkpointName: /^[A-Za-z0-9_-]{1,64}$/,
  promptLogprobs: 'shifted',
  metrics: 'plain',
  hasModelDetails: false,
  hasTimeZone: false,
  keys: 'any',
  hasSequenceIds: false,
};

/** The dialects of the test server, by name. The name of another server stands for a family of habits, not for one version. */
export const DIALECTS = {
  hosted: HOSTED,
  both: BOTH,
  json: JSON_ONLY,
  skyrl: SKYRL,
  'skyrl-tx': SKYRL_TX,
  tuft: TUFT,
  'open-rl': OPEN_RL,
  hatchery: HATCHERY,
  twinkle: TWINKLE,
} as const satisfies Record<string, Dialect>;

/** The name of a preset. */
export type DialectName = keyof typeof DIALECTS;
