import { endpoints } from '@tinkex/types/wire';
import type { RouteName } from '../routes/route-types.js';
import { type Dialect, HOSTED } from './dialect.js';

/** The routes that the smallest servers have. Those that are added to the API are missing there by themselves. */
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

/** Takes and gives whatever the client prefers; forgiving in everything else. Good for trying any client out. */
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

/** JSON, short numeric future ids, long holds, failures as statuses, no configuration endpoints. */
const SKYRL: Dialect = {
  ...JSON_ONLY,
  name: 'skyrl',
  refusedFormatStatus: 422,
  ids: 'number',
  longPollMs: 300_000,
  failure: 'detail',
  missingRoutes: [
    'clientConfig',
    'clientDynamicConfig',
    'authToken',
    'auditLog',
    'billingUsage',
    'exportSessionTrace',
    'assignSessionProject',
  ],
  nameClash: 'conflict',
  metrics: 'plain',
  hasTimeZone: false,
  keys: 'any',
};

/** JSON, UUIDs, try-again answers, 202 on submission, strict order. */
const TUFT: Dialect = {
  ...JSON_ONLY,
  name: 'tuft',
  refusedFormatStatus: 400,
  submitStatus: 202,
  ids: 'uuid',
  longPollMs: 120_000,
  pending: 'try-again',
  failure: 'request-failed',
  failureCategory: 'suffixed',
  missingRoutes: [
    'clientDynamicConfig',
    'authToken',
    'telemetry',
    'auditLog',
    'billingUsage',
    'exportSessionTrace',
    'assignSessionProject',
  ],
  missingStatus: 405,
  order: 'strict',
  repeat: 'conflict',
  checkpointName: /^[A-Za-z0-9_-]{1,128}$/,
  archive: 'json',
  clientConfig: { parallel_fwdbwd_chunks: false, fwd_via_fwdbwd: true },
};

/** JSON, polls answered at once, blank 408, few routes, no keys. */
const OPEN_RL: Dialect = {
  ...JSON_ONLY,
  name: 'open-rl',
  submitStatus: 201,
  longPollMs: 0,
  pending: 'timeout-blank',
  failure: 'error-message',
  missingRoutes: BEYOND_SMALLEST_SERVER,
  order: 'strict',
  samplerSegment: '',
  checkpointIds: 'bare',
  promptLogprobs: 'shifted',
  metrics: 'none',
  modelNameKey: 'model_id',
  hasModelDetails: false,
  keys: 'none',
  clientConfig: { parallel_fwdbwd_chunks: false },
};

/** Either format by Accept, ids of the form `S:train:0:1`, newer fields, refuses SDK versions it does not know. */
const HATCHERY: Dialect = {
  ...BOTH,
  name: 'hatchery',
  longPollMs: 30_000,
  pending: 'try-again',
  failureCategory: 'none',
  hasSequenceIds: true,
  clientConfig: { proto_write_fwdbwd: true, some_future_flag: 'on' },
  missingRoutes: ['authToken', 'auditLog', 'billingUsage'],
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
  missingRoutes: BEYOND_SMALLEST_SERVER,
  nameClash: 'conflict',
  checkpointName: /^[A-Za-z0-9_-]{1,64}$/,
  promptLogprobs: 'shifted',
  metrics: 'plain',
  hasModelDetails: false,
  hasTimeZone: false,
  keys: 'any',
};

/** The dialects that the server speaks, by name. The names of other servers stand for a family of habits, not for a version of them. */
export const DIALECTS = {
  hosted: HOSTED,
  both: BOTH,
  json: JSON_ONLY,
  skyrl: SKYRL,
  tuft: TUFT,
  'open-rl': OPEN_RL,
  hatchery: HATCHERY,
  twinkle: TWINKLE,
} as const satisfies Record<string, Dialect>;

/** The name of a preset. */
export type DialectName = keyof typeof DIALECTS;
