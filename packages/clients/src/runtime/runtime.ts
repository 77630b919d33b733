import type { Clock, Random } from '@tinkex/http';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { EventSource } from '@tinkex/types';
import type { ClientLifetime } from './call-scope.js';

/** What all parts of one `ServiceClient` share: time, randomness, its lifetime, and where events and failures go. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly lifetime: ClientLifetime;
  /** Which client published events come from. */
  readonly source: () => EventSource;
  readonly report: FailureReporter;
}

/** Reports failures to the service if telemetry is on; otherwise does nothing. */
export interface FailureReporter {
  /** A poll that failed or a call that is retried. */
  event(report: ClientReport): void;
  /** The error that a call of the session rejects with. */
  capture(error: unknown): void;
}
