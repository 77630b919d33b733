import { elapsedMs, hasSubscribers, type MonotonicTime, publish } from '@tinkex/http';
import type { ClientConfigResponse } from '@tinkex/types/wire';
import type { EndpointBody, EndpointCallOptions } from '../calls/endpoint-types.js';
import { type FutureResults, RESULT_DECODERS } from '../futures/result-decoders.js';
import type { OngoingCall } from '../futures/running-call.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import type { SamplingParts, Session } from '../sampling/sampling-client.js';
import type { BodyMemory } from './body-memory.js';
import { type Turn, TurnQueue } from './turn-queue.js';
import type { WireDialect } from './wire-dialect.js';

/** What all training clients of one connection share. */
export interface TrainingShared {
  readonly config: ClientConfigResponse;
  readonly dialect: WireDialect;
  /** Room for the estimated bytes of the chunks being submitted. */
  readonly dispatchBudget: AdmissionQueue;
  readonly bodyMemory: BodyMemory;
  /** Operations of one model that are submitted and not finished; undefined: no limit. */
  readonly maxUnfinishedOperations: number | undefined;
}

/** What a training client is made of. It also creates sampling clients. */
export interface TrainingParts extends SamplingParts {
  readonly session: Session;
  readonly training: TrainingShared;
}

/** The endpoints of the operations that are one request each. */
const ENDPOINTS = {
  CreateModel: 'createModel',
  CreateCustomLoss: 'createCustomLoss',
  OptimStep: 'optimStep',
  SaveWeights: 'saveWeights',
  LoadWeights: 'loadWeights',
  SaveWeightsForSampler: 'saveWeightsForSampler',
  SaveWeightsExternal: 'saveWeightsExternal',
  UnloadModel: 'unloadModel',
} as const;

export type SingleOperation = keyof typeof ENDPOINTS;

/** The body of an operation's request. */
export type OperationBody<Type extends SingleOperation> = EndpointBody<(typeof ENDPOINTS)[Type]>;

/** Submits one operation and returns its request ID. */
export async function submitOperation<Type extends SingleOperation>(
  { calls }: Pick<TrainingParts, 'calls'>,
  requestType: Type,
  body: OperationBody<Type>,
  options: EndpointCallOptions,
): Promise<string> {
  const { requestId } = await calls.call(ENDPOINTS[requestType as SingleOperation], { body: body as never }, options);
  return requestId;
}

/** Waits for the result of one request of a call. */
export function pollResult<Type extends keyof FutureResults>(
  { poller, runtime }: Pick<TrainingParts, 'poller' | 'runtime'>,
  call: OngoingCall,
  requestType: Type,
  requestId: string,
): Promise<FutureResults[Type]> {
  const { signal, headers, startedAt } = call;
  return poller.poll({
    requestId,
    requestType,
    decoder: RESULT_DECODERS[requestType],
    // Requests listen to the signal too: when one chunk fails, the polls of the others stop.
    scope: { signal, requestSignal: signal },
    observer: call.core,
    roundtripMs: elapsedMs(runtime.clock, startedAt),
    headers,
  });
}

interface FinishedOperation {
  readonly requestType: string;
  readonly callId: number;
  readonly requestId: string | undefined;
  readonly datums: number;
  readonly tokens: number;
  readonly lossWeight?: number | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  readonly startedAt: MonotonicTime;
}

/** One model on the server, as its training client uses it: the order of its operations, and their events. */
export class TrainedModel {
  readonly parts: TrainingParts;
  readonly modelId: string;
  readonly #turns = new TurnQueue();
  readonly #unfinished: AdmissionQueue | undefined;
  /** Calls that count as unfinished. A call with two passes counts once. */
  readonly #admitted = new WeakSet<OngoingCall>();

  constructor(parts: TrainingParts, modelId: string) {
    this.parts = parts;
    this.modelId = modelId;
    const limit = parts.training.maxUnfinishedOperations;
    this.#unfinished = limit === undefined ? undefined : AdmissionQueue.counting(limit);
  }

  /** Reserves the next turn and its sequence IDs. Call it before the first `await`: that is what keeps operations in the order of the calls. */
  reserve(call: OngoingCall, seqIds = 1): Turn {
    call.throwIfEnded();
    const turn = this.#turns.reserve(seqIds);
    const unfinished = this.#unfinished;
    if (unfinished === undefined) return turn;
    const start = async (signal?: AbortSignal): Promise<void> => {
      await turn.start(signal);
      if (this.#admitted.has(call)) return;
      await unfinished.enter(1, signal);
      this.#admitted.add(call);
      call.atEnd(() => unfinished.leave(1));
    };
    return { ...turn, start };
  }

  /** Submits a single operation in its turn and waits for its result. */
  async execute<Type extends SingleOperation>(
    call: OngoingCall,
    turn: Turn,
    requestType: Type,
    body: OperationBody<Type>,
  ): Promise<FutureResults[Type]> {
    let requestId: string;
    try {
      await turn.start(call.signal);
      requestId = await submitOperation(this.parts, requestType, body, call.step);
    } finally {
      // In every case, so that a failed or aborted operation never holds up those after it.
      turn.end();
    }
    call.accept([requestId]);
    return pollResult(this.parts, call, requestType, requestId);
  }

  /** Publishes a training operation that succeeded. */
  publishOperation({ startedAt, ...operation }: FinishedOperation): void {
    if (!hasSubscribers('tinkex:training:operation')) return;
    const { clock, source } = this.parts.runtime;
    publish('tinkex:training:operation', {
      modelId: this.modelId,
      durationMs: elapsedMs(clock, startedAt),
      ...operation,
      ...source(),
    });
  }

  /** Publishes a checkpoint that was saved or loaded. */
  publishCheckpoint(name: 'tinkex:checkpoint:save' | 'tinkex:checkpoint:load', { core, startedAt }: OngoingCall, path: string): void {
    const { clock, source } = this.parts.runtime;
    const { requestType } = core.origin;
    const { callId } = core;
    publish(name, { requestType, callId, modelId: this.modelId, path, durationMs: elapsedMs(clock, startedAt), ...source() });
  }
}
