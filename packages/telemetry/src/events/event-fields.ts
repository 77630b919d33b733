import type { TinkexEventName, TinkexEvents } from '@tinkex/types';

type Fields<Name extends TinkexEventName> = readonly Exclude<keyof TinkexEvents[Name], 'content'>[];

const source = ['clientId', 'baseUrl', 'sessionId'] as const;
const operation = [...source, 'requestType', 'requestId', 'attempt', 'durationMs'] as const;
const http = [
  ...operation,
  'method',
  'path',
  'pool',
  'requestBytes',
  'startedAtMs',
  'status',
  'responseBytes',
  'errorCode',
  'errorName',
] as const;
const rateLimit = [...operation, 'limiterId', 'delayMs'] as const;
const checkpoint = [...operation, 'modelId', 'path'] as const;
const recovery = [...operation, 'trainingRunId'] as const;
const restart = [...recovery, 'path'] as const;
const recoveryFailure = [...recovery, 'errorCode', 'errorName'] as const;

/**
 * Every event and the fields of it that may leave the process. An allow-list: what is not named here reaches no sink, whatever a
 * publisher puts on the object. Sampled content is deliberately absent; sinks add it only when told to.
 */
export const eventFields: { readonly [Name in TinkexEventName]: Fields<Name> } = {
  'tinkex:http:request:start': http,
  'tinkex:http:request:stop': http,
  'tinkex:http:request:exception': http,
  'tinkex:http:request:retry': [...operation, 'method', 'path', 'delayMs', 'status', 'errorCode'],
  'tinkex:future:poll': [...operation, 'outcome', 'status'],
  'tinkex:future:settled': [...operation, 'outcome', 'errorCode'],
  'tinkex:future:unobserved_failure': [...operation, 'errorCode', 'errorName'],
  'tinkex:queue:state_change': [...operation, 'from', 'to', 'reason'],
  'tinkex:session:start': operation,
  'tinkex:session:heartbeat': operation,
  'tinkex:session:heartbeat_missed': [...operation, 'errorCode', 'sinceLastSuccessMs'],
  'tinkex:session:end': operation,
  'tinkex:rate_limit:set': rateLimit,
  'tinkex:rate_limit:cleared': rateLimit,
  'tinkex:rate_limit:wait': rateLimit,
  'tinkex:chunk:submit': [...operation, 'modelId', 'seqId', 'chunkIndex', 'chunkCount', 'datums', 'estimatedBytes'],
  'tinkex:training:operation': [...operation, 'modelId', 'datums', 'tokens', 'metrics'],
  'tinkex:sampling:call': [...operation, 'samplingSessionId', 'promptTokens', 'samples', 'sampledTokens', 'errorCode'],
  'tinkex:checkpoint:save': checkpoint,
  'tinkex:checkpoint:load': checkpoint,
  'tinkex:checkpoint:download': [...operation, 'path', 'receivedBytes', 'totalBytes'],
  'tinkex:recovery:broken': recovery,
  'tinkex:recovery:attempt': restart,
  'tinkex:recovery:attempt_failed': recoveryFailure,
  'tinkex:recovery:recovered': restart,
  'tinkex:recovery:given_up': recoveryFailure,
  'tinkex:recovery:watch_failed': recoveryFailure,
};

/** All event names, in the order of the catalogue. */
export const eventNames = Object.keys(eventFields) as readonly TinkexEventName[];
