import {
  type ForwardBackwardOutput,
  type LoadWeightsResponse,
  type OptimStepResponse,
  type SampleResponse,
  type SaveWeightsForSamplerResponse,
  type SaveWeightsResponse,
  type UnloadModelResponse,
  ValidationError,
} from '@tinkex/types';
import { type CreateModelResponse, combineForwardBackwardOutputs } from '@tinkex/types/wire';
import type { CallOptions, WaitOptions } from '../runtime/call-options.js';
import type { Connection } from '../service/connection.js';
import type { ApiFuture } from './api-future.js';
import type { FutureHandle } from './future-progress.js';
import type { Operation, OperationHost } from './running-call.js';
import type { ResultDecoder } from './result-decoder.js';
import { resultDecoders } from './result-decoders.js';
import { startOperation } from './start-operation.js';

/** What each kind of future gives. */
export interface FutureResults {
  CreateModel: CreateModelResponse;
  Forward: ForwardBackwardOutput;
  ForwardBackward: ForwardBackwardOutput;
  OptimStep: OptimStepResponse;
  SaveWeights: SaveWeightsResponse;
  LoadWeights: LoadWeightsResponse;
  SaveWeightsForSampler: SaveWeightsForSamplerResponse;
  UnloadModel: UnloadModelResponse;
  Sample: SampleResponse;
}

/** Waiting for results that another process asked for. */
export class Futures {
  readonly #host: OperationHost;
  readonly #connect: (options: WaitOptions) => Promise<Connection>;

  /** @internal */
  constructor(host: OperationHost, connect: (options: WaitOptions) => Promise<Connection>) {
    this.#host = host;
    this.#connect = connect;
  }

  /**
   * Goes on waiting for a future whose handle (`future.toJSON()`) was kept, here or in another process. Nothing is submitted.
   * The server keeps finished results for a time of its own choosing; afterwards the future fails with `FutureExpiredError`.
   *
   * @throws `ValidationError` at once when the handle is none, or was made before the future was `submitted()`.
   */
  attach<Type extends keyof FutureResults>(handle: FutureHandle<Type>, options: CallOptions = {}): ApiFuture<FutureResults[Type]> {
    const { requestType, requestIds } = checked(handle);
    const decoder = resultDecoders[requestType] as ResultDecoder<FutureResults[Type]>;
    const { headers } = options;
    const run = async ({ signal, accepted, observer }: Operation): Promise<FutureResults[Type]> => {
      accepted(requestIds);
      const job = { requestType, decoder, signal, observer, ...(headers === undefined ? {} : { headers }) };
      const connection = await this.#connect({ signal });
      if (!isPass(requestType)) return connection.poll({ ...job, requestId: requestIds[0] as string });
      const outputs = await Promise.all(requestIds.map((requestId) => connection.poll({ ...job, requestId })));
      return combineForwardBackwardOutputs(outputs as ForwardBackwardOutput[]) as FutureResults[Type];
    };
    return startOperation(this.#host, { requestType, run }, options);
  }
}

/** The kinds of operation that may be split into chunks. */
function isPass(requestType: keyof FutureResults): boolean {
  return requestType === 'Forward' || requestType === 'ForwardBackward';
}

function checked<Type extends keyof FutureResults>(handle: FutureHandle<Type>): FutureHandle<Type> {
  const problem = problemOf(handle as FutureHandle | null);
  if (problem === undefined) return handle;
  throw new ValidationError({ direction: 'request', subject: 'FutureHandle', issues: [problem] });
}

function problemOf(handle: FutureHandle | null): { path: string; message: string } | undefined {
  if (handle?.kind !== 'tinkex.future') return { path: '', message: 'is not what future.toJSON() gives' };
  if (handle.version !== 1) return { path: 'version', message: `is ${String(handle.version)}; this version of the SDK reads 1` };
  if (!Object.hasOwn(resultDecoders, handle.requestType))
    return { path: 'requestType', message: `is unknown: ${String(handle.requestType)}` };
  const { requestIds } = handle;
  const isList = Array.isArray(requestIds) && requestIds.every((id) => typeof id === 'string');
  if (!isList) return { path: 'requestIds', message: 'must be a list of strings' };
  if (requestIds.length === 0) return { path: 'requestIds', message: 'is empty: await future.submitted() before making the handle' };
  return undefined;
}
