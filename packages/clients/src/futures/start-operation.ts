import type { CallOptions } from '../runtime/call-options.js';
import { CallScope } from '../runtime/call-scope.js';
import { ApiFuture } from './api-future.js';
import { FutureCore } from './future-core.js';
import { type OperationHost, type OperationSpec, RunningOperation } from './running-call.js';

/** Runs eager work behind a future. The synchronous part of `run` happens within the user's call, which is what fixes the order. */
export function startOperation<T>(host: OperationHost, spec: OperationSpec<T>, options: CallOptions = {}): ApiFuture<T> {
  const { clock, lifetime, source } = host;
  const core = new FutureCore<T>({ requestType: spec.requestType, clock, source });
  new RunningOperation(host, spec, core, new CallScope(clock, lifetime, options)).begin();
  return new ApiFuture(core);
}
