import type { TinkexEventName, TinkexEvents } from '@tinkex/types';

/** How much a log shows, from everything to nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'off';

/** The level of one log line. */
export type LineLevel = Exclude<LogLevel, 'off'>;

/** What consumers need to know about one kind of event. */
interface EventEntry<Event> {
  /** The log level of an event that reports no failure. */
  readonly level: LineLevel;
  /** For events that may report a failure: how to recognize one, and its log level. */
  readonly failure?: { readonly level: LineLevel; isFailure(event: Event): boolean };
  /** Every field of the event, and whether it may leave the process. */
  readonly fields: { readonly [Field in keyof Event]-?: boolean };
}

const SOURCE = { clientId: true, baseUrl: true, sessionId: true } as const;
const REQUEST = { ...SOURCE, requestType: true, requestId: true, attempt: true, durationMs: true } as const;
const OPERATION = { ...REQUEST, callId: true } as const;
const ERROR = { errorCode: true, errorName: true } as const;
const HTTP = {
  ...OPERATION,
  method: true,
  path: true,
  pool: true,
  requestBytes: true,
  startedAtMs: true,
  status: true,
  responseBytes: true,
  ...ERROR,
} as const;
const RATE_LIMIT = { ...REQUEST, limiterId: true, delayMs: true } as const;
const CHECKPOINT = { ...OPERATION, modelId: true, path: true } as const;
const RECOVERY = { ...REQUEST, trainingRunId: true } as const;

/**
 * Every event: its log level and the fields that may leave the process. The compiler demands an entry for each event and a decision for
 * each field. What is not allowed here reaches no sink, whatever a publisher puts on the object.
 */
export const EVENTS: { readonly [Name in TinkexEventName]: EventEntry<TinkexEvents[Name]> } = {
  'tinkex:http:request:start': { level: 'debug', fields: HTTP },
  'tinkex:http:request:stop': {
    level: 'debug',
    failure: { level: 'warn', isFailure: ({ status }) => status !== undefined && status >= 400 },
    fields: HTTP,
  },
  'tinkex:http:request:exception': { level: 'warn', fields: HTTP },
  'tinkex:http:request:retry': {
    level: 'warn',
    fields: { ...OPERATION, method: true, path: true, delayMs: true, status: true, errorCode: true },
  },
  'tinkex:future:start': { level: 'debug', fields: { ...OPERATION, startedAtMs: true } },
  'tinkex:future:poll': { level: 'debug', fields: { ...OPERATION, outcome: true, status: true } },
  'tinkex:future:settled': {
    level: 'debug',
    failure: { level: 'warn', isFailure: ({ outcome }) => outcome === 'rejected' },
    fields: { ...OPERATION, outcome: true, errorCode: true },
  },
  'tinkex:future:unobserved_failure': { level: 'error', fields: { ...OPERATION, ...ERROR } },
  'tinkex:queue:state_change': { level: 'info', fields: { ...OPERATION, from: true, to: true, reason: true } },
  'tinkex:session:start': { level: 'info', fields: REQUEST },
  'tinkex:session:heartbeat': { level: 'debug', fields: REQUEST },
  'tinkex:session:heartbeat_missed': { level: 'warn', fields: { ...REQUEST, errorCode: true, sinceLastSuccessMs: true } },
  'tinkex:session:end': { level: 'info', fields: REQUEST },
  'tinkex:rate_limit:set': { level: 'warn', fields: RATE_LIMIT },
  'tinkex:rate_limit:cleared': { level: 'info', fields: RATE_LIMIT },
  'tinkex:rate_limit:wait': { level: 'debug', fields: RATE_LIMIT },
  'tinkex:chunk:submit': {
    level: 'debug',
    fields: { ...OPERATION, modelId: true, seqId: true, chunkIndex: true, chunkCount: true, datums: true, estimatedBytes: true },
  },
  'tinkex:training:operation': {
    level: 'info',
    fields: { ...OPERATION, modelId: true, datums: true, tokens: true, lossWeight: true, metrics: true },
  },
  'tinkex:sampling:call': {
    level: 'info',
    failure: { level: 'warn', isFailure: ({ errorCode }) => errorCode !== undefined },
    // Sinks add the content themselves, and only with `includeContent`.
    fields: {
      ...OPERATION,
      samplingSessionId: true,
      model: true,
      maxTokens: true,
      temperature: true,
      topP: true,
      topK: true,
      seed: true,
      finishReasons: true,
      promptTokens: true,
      samples: true,
      sampledTokens: true,
      errorCode: true,
      content: false,
    },
  },
  'tinkex:checkpoint:save': { level: 'info', fields: CHECKPOINT },
  'tinkex:checkpoint:load': { level: 'info', fields: CHECKPOINT },
  'tinkex:checkpoint:download': { level: 'debug', fields: { ...REQUEST, path: true, receivedBytes: true, totalBytes: true } },
  'tinkex:recovery:broken': { level: 'warn', fields: RECOVERY },
  'tinkex:recovery:attempt': { level: 'info', fields: { ...RECOVERY, path: true } },
  'tinkex:recovery:attempt_failed': { level: 'warn', fields: { ...RECOVERY, ...ERROR } },
  'tinkex:recovery:recovered': { level: 'info', fields: { ...RECOVERY, path: true } },
  'tinkex:recovery:given_up': { level: 'error', fields: { ...RECOVERY, ...ERROR } },
  'tinkex:recovery:watch_failed': { level: 'warn', fields: { ...RECOVERY, ...ERROR } },
};

/** All event names, in the order of the catalog. */
export const EVENT_NAMES: readonly TinkexEventName[] = Object.keys(EVENTS) as TinkexEventName[];
