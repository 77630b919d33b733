import type { RouteName } from '../routes/route-types.js';
import type { FutureRecord } from './future-record.js';

/** One accepted piece of work: where its result goes, and how to do it. */
export interface Operation {
  readonly future: FutureRecord;
  readonly route: RouteName;
  run(): unknown;
}

/** What a server remembers of an accepted operation to recognise a repeat. */
export interface AcceptedOperation {
  /** Of the body: equal for an identical resubmission. */
  readonly fingerprint: string;
  readonly requestId: string;
}
