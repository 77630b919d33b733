import type { StopReason } from './plan.js';

/** Ends a run in an orderly way from inside its work: nothing counts or retries it. */
export class RunStop extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The run ends: ${reason}.`);
    this.reason = reason;
  }
}
