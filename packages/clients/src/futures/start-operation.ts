import type { Clock } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';
import type { CallOptions } from '../calls/call-options.js';
import { CallScope } from '../calls/call-scope.js';
import type { Lifetime } from '../calls/lifetime.js';
import { ApiFuture } from './api-future.js';
import { FutureCore } from './future-core.js';
import type { OperationSpec } from './operation.js';

export interface OperationHost {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly source: () => EventSource;
}

/** Runs eager work behind a future. The synchronous part of `run` happens within the user's call, which is what fixes the order. */
export function startOperation<T>(host: OperationHost, { requestType, run }: OperationSpec<T>, options: CallOptions = {}): ApiFuture<T> {
  const core = new FutureCore<T>({ requestType, clock: host.clock, source: host.source });
  const scope = new CallScope(host.clock, host.lifetime, options);
  void settle(core, scope, run);
  return new ApiFuture(core);
}

async function settle<T>(core: FutureCore<T>, scope: CallScope, run: OperationSpec<T>['run']): Promise<void> {
  try {
    if (scope.signal.aborted) throw scope.signal.reason;
    const value = await run({
      signal: scope.signal,
      startedAtMs: core.startedAtMs,
      accepted: (requestIds) => core.accept(requestIds),
      polled: () => core.polled(),
      queueState: (report, requestId) => core.queueStateIs(report, requestId),
    });
    core.resolve(value);
  } catch (error) {
    core.reject(scope.explain(error));
    // Parts of a failed call that still wait or poll have nobody to report to.
    scope.abort(error);
  } finally {
    scope.end();
  }
}
