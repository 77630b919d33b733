import { type ForwardBackwardOutput, ValidationError } from '@tinkex/types';
import { combineForwardBackwardOutputs } from '@tinkex/types/wire';
import type { CallOptions, WaitOptions } from '../runtime/call-options.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ApiFuture } from './api-future.js';
import type { FutureHandle } from './future-progress.js';
import type { Poller } from './poller.js';
import { type FutureResults, RESULT_DECODERS, type ResultDecoder } from './result-decoders.js';
import { RunningCall } from './running-call.js';

/** Waits for results that were requested by another process. */
export class Futures {
  readonly #runtime: Runtime;
  readonly #connect: (options: WaitOptions) => Promise<{ readonly poller: Poller }>;

  private constructor(runtime: Runtime, connect: (options: WaitOptions) => Promise<{ readonly poller: Poller }>) {
    this.#runtime = runtime;
    this.#connect = connect;
  }

  /** @internal Use `service.futures`. */
  static of(runtime: Runtime, connect: (options: WaitOptions) => Promise<{ readonly poller: Poller }>): Futures {
    return new Futures(runtime, connect);
  }

  /**
   * Waits for a future whose handle (`future.toJSON()`) was stored, here or in another process. Submits nothing. The server decides how
   * long it keeps finished results; afterwards the future fails with `FutureExpiredError`.
   *
   * @throws `ValidationError` immediately when the handle is invalid, or older than the future's `submitted()`.
   */
  attach<Type extends keyof FutureResults>(handle: FutureHandle<Type>, options: CallOptions = {}): ApiFuture<FutureResults[Type]> {
    checkHandle(handle);
    const call = new RunningCall<FutureResults[Type]>(this.#runtime, handle.requestType, options, false);
    return call.settleWith(this.#collect(call, handle));
  }

  async #collect<Type extends keyof FutureResults>(
    call: RunningCall<FutureResults[Type]>,
    { requestType, requestIds }: FutureHandle<Type>,
  ): Promise<FutureResults[Type]> {
    call.throwIfEnded();
    call.accept(requestIds);
    const { signal, headers } = call;
    const { poller } = await this.#connect({ signal });
    const decoder = RESULT_DECODERS[requestType] as ResultDecoder<FutureResults[Type]>;
    const job = { requestType, decoder, scope: { signal, requestSignal: signal }, observer: call.core, headers };
    if (!mayBeSplit(requestType)) return poller.poll({ ...job, requestId: requestIds[0] as string });
    const outputs = await Promise.all(requestIds.map((requestId) => poller.poll({ ...job, requestId })));
    return combineForwardBackwardOutputs(outputs as ForwardBackwardOutput[]) as FutureResults[Type];
  }
}

/** Whether an operation of this kind may be split into chunks. */
function mayBeSplit(requestType: keyof FutureResults): boolean {
  return requestType === 'Forward' || requestType === 'ForwardBackward';
}

function checkHandle(handle: FutureHandle): void {
  const problem = problemOf(handle);
  if (problem !== undefined) throw new ValidationError({ direction: 'request', subject: 'FutureHandle', issues: [problem] });
}

function problemOf(handle: FutureHandle | null): { path: string; message: string } | undefined {
  if (handle?.kind !== 'tinkex.future') return { path: '', message: 'is not the result of future.toJSON()' };
  if (handle.version !== 1) return { path: 'version', message: `is ${String(handle.version)}; this version of the SDK reads 1` };
  const { requestType, requestIds } = handle;
  if (!Object.hasOwn(RESULT_DECODERS, requestType)) return { path: 'requestType', message: `is unknown: ${String(requestType)}` };
  const isList = Array.isArray(requestIds) && requestIds.every((id) => typeof id === 'string');
  if (!isList) return { path: 'requestIds', message: 'must be a list of strings' };
  if (requestIds.length === 0) return { path: 'requestIds', message: 'is empty: await future.submitted() before you create the handle' };
  return undefined;
}
