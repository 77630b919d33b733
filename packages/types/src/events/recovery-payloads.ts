import type { EventSource, RequestType } from './payloads.js';

/** What a recovery monitor does about one training run. */
export interface RunRecoveryEvent extends EventSource {
  /** The run that is watched, or that broke. */
  readonly trainingRunId: string;
  /** The endpoint that was called, if one was. */
  readonly requestType?: RequestType | undefined;
  /** The server's id of that request. */
  readonly requestId?: string | undefined;
  /** Restarts tried before this one. */
  readonly attempt?: number | undefined;
  /** `attempt_failed`: of the attempt; `recovered`, `given_up`: since the recovery began. Milliseconds. */
  readonly durationMs?: number | undefined;
}

/** A restart of a training run from a checkpoint. */
export interface RunRestartEvent extends RunRecoveryEvent {
  /** The checkpoint's `tinker://` path. */
  readonly path: string;
}

/** A failed recovery, restart, or check of a run. */
export interface RunRecoveryFailureEvent extends RunRecoveryEvent {
  /** The `code` of the error. */
  readonly errorCode: string;
  /** The `name` of the error. */
  readonly errorName: string;
}
