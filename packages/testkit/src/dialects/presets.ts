import type { RouteName } from '../routes/route-types.js';
import type { Dialect } from './dialect.js';

const restRoutes: readonly RouteName[] = [
  'listTrainingRuns',
  'getTrainingRun',
  'listCheckpoints',
  'deleteCheckpoint',
  'checkpointArchive',
  'publishCheckpoint',
  'unpublishCheckpoint',
  'setCheckpointTtl',
  'listUserCheckpoints',
  'listSessions',
  'getSession',
  'assignSessionProject',
  'exportSessionTrace',
  'auditLog',
  'billingUsage',
];

const hosted: Dialect = {
  name: 'hosted',
  requestFormats: ['protobuf'],
  refusedFormatStatus: 415,
  resultFormat: 'protobuf',
  submitStatus: 200,
  ids: 'tinker',
  longPollMs: undefined,
  pending: 'timeout',
  failure: 'category',
  failureCategory: 'plain',
  missingRoutes: ['forward'],
  missingStatus: 404,
  order: 'any',
  repeat: 'original',
  nameClash: 'failure',
  checkpointName: /^[^/\s]{1,256}$/,
  samplerSegment: 'sampler_weights',
  checkpointIds: 'prefixed',
  archive: 'redirect',
  promptLogprobs: 'full',
  metrics: 'reduced',
  modelNameKey: 'model_name',
  hasModelDetails: true,
  hasTimeZone: true,
  keys: 'tml',
  clientConfig: {},
  hasSequenceIds: false,
  sdkVersions: undefined,
};

/** Takes and gives whatever the client prefers; forgiving in everything else. Good for trying any client out. */
const both: Dialect = {
  ...hosted,
  name: 'both',
  requestFormats: ['protobuf', 'json'],
  resultFormat: 'accept',
  missingRoutes: [],
  keys: 'any',
};

const json: Dialect = {
  ...hosted,
  name: 'json',
  requestFormats: ['json'],
  refusedFormatStatus: 415,
  resultFormat: 'json',
  missingRoutes: [],
};

/** JSON, short numeric future ids, long holds, failures as statuses, no configuration endpoints. */
const skyrl: Dialect = {
  ...json,
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
const tuft: Dialect = {
  ...json,
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
const openRl: Dialect = {
  ...json,
  name: 'open-rl',
  submitStatus: 201,
  longPollMs: 0,
  pending: 'timeout-blank',
  failure: 'error-message',
  missingRoutes: ['clientDynamicConfig', 'authToken', 'telemetry', ...restRoutes],
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
const hatchery: Dialect = {
  ...both,
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
const twinkle: Dialect = {
  ...json,
  name: 'twinkle',
  refusedFormatStatus: 422,
  ids: 'uuid',
  longPollMs: 60_000,
  pending: 'timeout-blank',
  failure: 'category',
  failureCategory: 'upper',
  missingRoutes: ['clientDynamicConfig', 'authToken', 'telemetry', ...restRoutes],
  nameClash: 'conflict',
  checkpointName: /^[A-Za-z0-9_-]{1,64}$/,
  promptLogprobs: 'shifted',
  metrics: 'plain',
  hasModelDetails: false,
  hasTimeZone: false,
  keys: 'any',
};

/** The dialects the server can play, by name. The names of other servers mark the family of habits, not a version of them. */
export const dialects = { hosted, both, json, skyrl, tuft, 'open-rl': openRl, hatchery, twinkle } as const satisfies Record<
  string,
  Dialect
>;

/** The name of a preset. */
export type DialectName = keyof typeof dialects;
