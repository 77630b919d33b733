import type { Clock } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';
import type { CallOptions } from '../calls/call-options.js';
import { CallScope } from '../calls/call-scope.js';
import type { Lifetime } from '../calls/lifetime.js';
import { ApiFuture } from './api-future.js';
import { FutureCore } from './future-core.js';
import { type OperationSpec, RunningOperation } from './operation.js';

/** Where operations live: one for each client. */
export interface OperationHost {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly source: () => EventSource;
  /** Told of each operation that failed. */
  readonly onFailure?: (error: unknown) => void;
}

/** Runs eager work behind a future. The synchronous part of `run` happens within the user's call, which is what fixes the order. */
export function startOperation<T>(host: OperationHost, { requestType, run }: OperationSpec<T>, options: CallOptions = {}): ApiFuture<T> {
  const core = new FutureCore<T>({ requestType, clock: host.clock, source: host.source });
  const scope = new CallScope(host.clock, host.lifetime, options);
  const fail = (error: unknown): void => {
    const failure = scope.explain(error);
    core.reject(failure);
    // Parts of a failed call that still wait or poll have nobody to report to.
    scope.abort(error);
    scope.end();
    host.onFailure?.(failure);
  };
  // Not an async function: tens of thousands of futures may be pending, and a frame for each would be most of their memory.
  if (scope.failure !== undefined) fail(scope.failure);
  else {
    run(new RunningOperation(core, scope)).then((value) => {
      scope.end();
      core.resolve(value);
    }, fail);
  }
  return new ApiFuture(core);
}
