import type {
  CheckpointEvent,
  ChunkSubmitEvent,
  DownloadProgressEvent,
  FuturePollEvent,
  FutureSettledEvent,
  FutureStartEvent,
  FutureUnobservedFailureEvent,
  HeartbeatMissedEvent,
  HttpRequestEvent,
  HttpRetryEvent,
  QueueStateChangeEvent,
  RateLimitEvent,
  SamplingCallEvent,
  SessionEvent,
  TrainingOperationEvent,
} from './payloads.js';
import type { RunRecoveryEvent, RunRecoveryFailureEvent, RunRestartEvent } from './recovery-payloads.js';

/**
 * The catalog: channel name to payload. `http` and `clients` publish these events on `node:diagnostics_channel` under their names,
 * `telemetry` consumes them.
 */
export interface TinkexEvents {
  /** An HTTP attempt is about to be sent. */
  'tinkex:http:request:start': HttpRequestEvent;
  /** An HTTP attempt was answered, with any status. */
  'tinkex:http:request:stop': HttpRequestEvent;
  /** An HTTP attempt failed without an answer. */
  'tinkex:http:request:exception': HttpRequestEvent;
  /** A failed HTTP attempt will be repeated after a pause. */
  'tinkex:http:request:retry': HttpRetryEvent;
  /** A method that returns a future was called. */
  'tinkex:future:start': FutureStartEvent;
  /** A future was polled. */
  'tinkex:future:poll': FuturePollEvent;
  /** A future resolved or failed. */
  'tinkex:future:settled': FutureSettledEvent;
  /** A future failed and nothing was waiting for it. */
  'tinkex:future:unobserved_failure': FutureUnobservedFailureEvent;
  /** The service began, paused or resumed an operation. */
  'tinkex:queue:state_change': QueueStateChangeEvent;
  /** A session was opened. */
  'tinkex:session:start': SessionEvent;
  /** A heartbeat was answered. */
  'tinkex:session:heartbeat': SessionEvent;
  /** A heartbeat was not answered. */
  'tinkex:session:heartbeat_missed': HeartbeatMissedEvent;
  /** A session was closed by its client. */
  'tinkex:session:end': SessionEvent;
  /** A 429 on sampling set or extended the shared backoff. */
  'tinkex:rate_limit:set': RateLimitEvent;
  /** The shared backoff ended. */
  'tinkex:rate_limit:cleared': RateLimitEvent;
  /** A sampling call was held back by the shared backoff. */
  'tinkex:rate_limit:wait': RateLimitEvent;
  /** A part of a training call was accepted by the service. */
  'tinkex:chunk:submit': ChunkSubmitEvent;
  /** A training call finished. */
  'tinkex:training:operation': TrainingOperationEvent;
  /** A sampling call finished or failed. */
  'tinkex:sampling:call': SamplingCallEvent;
  /** A checkpoint was saved. */
  'tinkex:checkpoint:save': CheckpointEvent;
  /** A checkpoint was loaded. */
  'tinkex:checkpoint:load': CheckpointEvent;
  /** Part of a checkpoint was received. */
  'tinkex:checkpoint:download': DownloadProgressEvent;
  /** A watched training run was found broken. */
  'tinkex:recovery:broken': RunRecoveryEvent;
  /** A restart of a broken run from a checkpoint began. */
  'tinkex:recovery:attempt': RunRestartEvent;
  /** A restart failed; another may follow. */
  'tinkex:recovery:attempt_failed': RunRecoveryFailureEvent;
  /** A new run continues from a checkpoint of the broken one. */
  'tinkex:recovery:recovered': RunRestartEvent;
  /** A watched run was given up, after the last attempt or because it is gone. */
  'tinkex:recovery:given_up': RunRecoveryFailureEvent;
  /** A check of a watched run failed; the next one may succeed. */
  'tinkex:recovery:watch_failed': RunRecoveryFailureEvent;
}

/** The name of an event, which is also its channel. */
export type TinkexEventName = keyof TinkexEvents;

/** Any event with its name, as one discriminated union. */
export type TinkexEvent = { [Name in TinkexEventName]: { readonly name: Name; readonly event: TinkexEvents[Name] } }[TinkexEventName];
