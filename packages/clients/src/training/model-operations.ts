import { hasSubscribers, publish } from '@tinkex/http';
import type { CallOptions } from '../runtime/call-options.js';
import type { EndpointBody, EndpointKey } from '../calls/endpoint-types.js';
import type { ApiFuture } from '../futures/api-future.js';
import type { FutureResults } from '../futures/futures.js';
import type { Operation } from '../futures/running-call.js';
import { resultDecoders } from '../futures/result-decoders.js';
import type { EndpointCallOptions, SessionConnection } from '../service/connection.js';
import { RecentSaves } from './recent-saves.js';
import { CLOCK_TOLERANCE_MS } from './save-recovery.js';
import { TurnLine } from './turn-queue.js';

/** The submit endpoints of the table: those that answer with a promise. */
export type SubmitEndpoint = 'optimStep' | 'saveWeights' | 'loadWeights' | 'saveWeightsForSampler' | 'unloadModel';

/** A training operation that is one request and one promise. */
export interface ModelOperation<Key extends SubmitEndpoint, Type extends keyof FutureResults, T> {
  readonly requestType: Type;
  readonly endpoint: Key;
  /** How many sequence numbers it takes: 1 by default, 0 for a request that carries none but keeps its place all the same. */
  readonly seqIds?: 0 | 1;
  /** Makes the body for the sequence number. */
  readonly body: (seqId: number) => EndpointBody<Key>;
  /** Sends the submission; default: one call of the endpoint. */
  readonly submit?: (context: SubmitContext<Key>) => Promise<{ readonly requestId: string }>;
  /** Makes the user's value of the result. */
  readonly finish: (result: FutureResults[Type], requestId: string) => T;
}

/** What a submission of its own kind gets. */
export interface SubmitContext<Key extends EndpointKey> {
  /** The body; made anew by each call. */
  readonly makeBody: () => EndpointBody<Key>;
  readonly options: EndpointCallOptions;
}

/** What is told of a training call that has succeeded. */
interface FinishedOperation {
  readonly requestType: string;
  readonly requestId: string | undefined;
  readonly datums: number;
  readonly tokens: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly startedAtMs: number;
}

/** The model of one training client on the server: its line of turns, and how operations on it are sent and awaited. */
export class ModelOperations {
  readonly connection: SessionConnection;
  readonly modelId: string;
  readonly turns = new TurnLine();
  readonly recentSaves: RecentSaves;

  constructor(connection: SessionConnection, modelId: string) {
    this.connection = connection;
    this.modelId = modelId;
    this.recentSaves = new RecentSaves(connection.clock, 2 * CLOCK_TOLERANCE_MS);
  }

  /** Takes a place and a number now, submits when the turn comes, then polls. */
  start<Key extends SubmitEndpoint, Type extends keyof FutureResults, T>(
    spec: ModelOperation<Key, Type, T>,
    options: CallOptions,
  ): ApiFuture<T> {
    const { requestType } = spec;
    const run = async (operation: Operation): Promise<T> => {
      const requestId = await this.submitInTurn(operation, spec.seqIds ?? 1, (seqId) => this.#submit(spec, seqId, operation, options));
      operation.accepted([requestId]);
      return spec.finish(await this.result(operation, requestId, requestType, options), requestId);
    };
    return this.connection.startOperation({ requestType, run }, options);
  }

  /**
   * Reserves synchronously, then submits within the turn. The turn ends in every case, so that a failed or cancelled
   * operation never holds up those after it.
   */
  async submitInTurn<T extends { readonly requestId: string }>(
    operation: Operation,
    seqIds: 0 | 1,
    submit: (seqId: number) => Promise<T>,
  ): Promise<string> {
    const turn = this.turns.reserve(seqIds);
    try {
      await turn.start(operation.signal);
      const { requestId } = await submit(turn.seqIds[0] ?? 0);
      return requestId;
    } finally {
      turn.end();
    }
  }

  /** Waits for one promise of an operation. */
  result<Type extends keyof FutureResults>(
    operation: Operation,
    requestId: string,
    requestType: Type,
    { headers }: CallOptions,
  ): Promise<FutureResults[Type]> {
    return this.connection.poll({
      requestId,
      requestType,
      decoder: resultDecoders[requestType],
      signal: operation.signal,
      roundtripMs: this.connection.clock.now() - operation.startedAtMs,
      observer: operation.observer,
      ...(headers === undefined ? {} : { headers }),
    });
  }

  /** Tells of a finished training call. */
  publishOperation({ requestId, startedAtMs, ...operation }: FinishedOperation): void {
    if (!hasSubscribers('tinkex:training:operation')) return;
    publish('tinkex:training:operation', {
      modelId: this.modelId,
      durationMs: this.connection.clock.now() - startedAtMs,
      ...operation,
      ...this.connection.source(),
      ...(requestId === undefined ? {} : { requestId }),
    });
  }

  /** Tells of a checkpoint that was saved or loaded. */
  publishCheckpoint(
    name: 'tinkex:checkpoint:save' | 'tinkex:checkpoint:load',
    requestType: string,
    path: string,
    startedAtMs: number,
  ): void {
    const durationMs = this.connection.clock.now() - startedAtMs;
    publish(name, { requestType, modelId: this.modelId, path, durationMs, ...this.connection.source() });
  }

  #submit<Key extends SubmitEndpoint, Type extends keyof FutureResults, T>(
    { endpoint, body, submit }: ModelOperation<Key, Type, T>,
    seqId: number,
    { signal }: Operation,
    { headers }: CallOptions,
  ): Promise<{ readonly requestId: string }> {
    // The operation's signal already stands for the caller's signal and time limit.
    const options: EndpointCallOptions = { signal, isScoped: true, ...(headers === undefined ? {} : { headers }) };
    if (submit !== undefined) return submit({ makeBody: () => body(seqId), options });
    return this.connection.call(endpoint, { body: body(seqId) }, options) as Promise<{ readonly requestId: string }>;
  }
}
