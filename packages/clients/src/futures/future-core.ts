import { type Clock, elapsedMs, hasSubscribers, type MonotonicTime, publish } from '@tinkex/http';
import { type EventSource, type QueueState, TinkexError } from '@tinkex/types';
import type { QueueReport } from '@tinkex/types/wire';
import { notifyUser } from '../runtime/notify-user.js';
import type { FutureProgress, FutureStatus, QueueStateChange } from './future-progress.js';

/** What a future is about, and where its events go. */
export interface FutureOrigin {
  readonly requestType: string;
  readonly clock: Clock;
  readonly source: () => EventSource;
  /** A mapped future publishes only an unobserved failure: its source publishes the rest. */
  readonly isDerived?: boolean;
  /** When the method was called, if earlier than now: a mapped future is as old as its source. */
  readonly startedAt?: MonotonicTime;
}

/** What a future shows. Covariant in its result, unlike {@link FutureCore}, so that a future of a narrower type is one of a wider. */
export interface FutureView<T> {
  /** Names the call in events. Unique within the process. */
  readonly callId: number;
  readonly origin: FutureOrigin;
  readonly startedAt: MonotonicTime;
  readonly promise: Promise<T>;
  readonly status: FutureStatus;
  readonly requestIds: readonly string[];
  readonly polls: number;
  readonly queue: QueueReport | undefined;
  readonly isSettled: boolean;
  /** Set by every wait: a failure then has a handler. */
  isObserved: boolean;
  submitted(): Promise<void>;
  progress(): FutureProgress;
  onProgress(listener: () => void): () => void;
  onQueueState(listener: (change: QueueStateChange) => void): () => void;
}

let lastCallId = 0;
const NO_IDS: readonly string[] = Object.freeze([]);

/** The state behind an `ApiFuture`: the running call writes it, the future shows it. */
export class FutureCore<T> implements FutureView<T> {
  readonly callId: number;
  readonly origin: FutureOrigin;
  readonly startedAt: MonotonicTime;
  readonly promise: Promise<T>;
  status: FutureStatus = 'submitting';
  requestIds: readonly string[] = NO_IDS;
  polls = 0;
  isObserved = false;
  queue: QueueReport | undefined;
  /** The request that {@link queue} belongs to. */
  #queueOf: string | undefined;
  /** The latest reports of the other requests of a call that was split. */
  #otherQueues: Map<string, QueueReport> | undefined;
  #resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;
  #error: unknown;
  #submitted: PromiseWithHooks | undefined;
  #progressListeners: Set<() => void> | undefined;
  #queueListeners: Set<(change: QueueStateChange) => void> | undefined;

  constructor(origin: FutureOrigin) {
    lastCallId += 1;
    this.callId = lastCallId;
    this.origin = origin;
    this.startedAt = origin.startedAt ?? origin.clock.monotonicMs();
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (!origin.isDerived && hasSubscribers('tinkex:future:start')) {
      publish('tinkex:future:start', { startedAtMs: origin.clock.wallMs(), ...this.#event() });
    }
  }

  get isSettled(): boolean {
    return this.status === 'resolved' || this.status === 'rejected';
  }

  /** Resolves when the server has accepted the operation; rejects when it never will. */
  submitted(): Promise<void> {
    if (this.requestIds.length > 0 || this.status === 'resolved') return Promise.resolve();
    if (this.status === 'rejected') return Promise.reject(this.#error);
    this.#submitted ??= withHooks();
    return this.#submitted.promise;
  }

  /** Records that the server has accepted everything. */
  accept(requestIds: readonly string[]): void {
    if (this.isSettled) return;
    this.requestIds = requestIds;
    this.status = 'pending';
    this.#submitted?.resolve();
    this.#submitted = undefined;
    this.#notify();
  }

  /** Records an answered poll. */
  polled(): void {
    this.polls += 1;
    this.#notify();
  }

  /** Copies the progress of another future: a mapped future shows that of its source. */
  mirror(source: Pick<FutureView<unknown>, 'polls' | 'requestIds' | 'queue'>): void {
    this.polls = source.polls;
    this.queue ??= source.queue;
    if (this.requestIds.length === 0 && source.requestIds.length > 0) this.accept(source.requestIds);
    else this.#notify();
  }

  /**
   * Takes the queue state that the server reported and passes on transitions only. The chunks of one call may be in different queues: each
   * is compared with its own last report, and the first time with the latest report of any.
   */
  queueStateIs(report: QueueReport, requestId: string): void {
    const last = this.#replaceQueue(report, requestId);
    const from = last?.state;
    const isChange = from !== report.state || last?.reason !== report.reason;
    if (!isChange || this.isSettled) return;
    const change = { ...report, requestId };
    if (this.#queueListeners !== undefined) for (const listener of this.#queueListeners) notifyUser(listener, change);
    if (from !== report.state) this.#publishQueueState(from, change);
  }

  resolve(value: T): void {
    if (this.isSettled) return;
    this.#settle('resolved');
    this.#resolve(value);
    this.#submitted?.resolve();
    this.#publishSettled(undefined);
  }

  reject(error: unknown): void {
    if (this.isSettled) return;
    this.#settle('rejected');
    this.#error = error;
    const submitted = this.#submitted;
    if (submitted !== undefined) {
      this.isObserved = true;
      submitted.reject(error);
    }
    // A failure that is not awaited must not end the process; it is published instead.
    this.promise.catch(ignore);
    this.#reject(error);
    this.#publishSettled(error);
  }

  progress(): FutureProgress {
    const [requestId] = this.requestIds;
    const queue = this.isSettled ? undefined : this.queue;
    return {
      status: this.status,
      requestId,
      queueState: queue?.state,
      queueStateReason: queue?.reason,
      polls: this.polls,
      elapsedMs: elapsedMs(this.origin.clock, this.startedAt),
    };
  }

  /** Calls back after every change. The returned function removes the listener. */
  onProgress(listener: () => void): () => void {
    this.#progressListeners ??= new Set();
    this.#progressListeners.add(listener);
    return () => this.#progressListeners?.delete(listener);
  }

  onQueueState(listener: (change: QueueStateChange) => void): () => void {
    this.#queueListeners ??= new Set();
    this.#queueListeners.add(listener);
    return () => this.#queueListeners?.delete(listener);
  }

  #settle(status: 'resolved' | 'rejected'): void {
    this.status = status;
    this.#notify();
    this.#progressListeners = undefined;
    this.#queueListeners = undefined;
  }

  /** @returns The request's previous report, or the latest of any if it has none. */
  #replaceQueue(report: QueueReport, requestId: string): QueueReport | undefined {
    const { queue } = this;
    let last = queue;
    if (this.#queueOf !== undefined && this.#queueOf !== requestId && queue !== undefined) {
      this.#otherQueues ??= new Map();
      this.#otherQueues.set(this.#queueOf, queue);
      last = this.#otherQueues.get(requestId) ?? queue;
    }
    this.queue = report;
    this.#queueOf = requestId;
    return last;
  }

  #notify(): void {
    if (this.#progressListeners !== undefined) for (const listener of this.#progressListeners) listener();
  }

  #publishQueueState(from: QueueState | undefined, { state, reason, requestId }: QueueStateChange): void {
    if (this.origin.isDerived || !hasSubscribers('tinkex:queue:state_change')) return;
    publish('tinkex:queue:state_change', { from, to: state, reason, ...this.#event(), requestId });
  }

  #publishSettled(error: unknown): void {
    if (!this.origin.isDerived && hasSubscribers('tinkex:future:settled')) {
      publish('tinkex:future:settled', {
        outcome: this.status === 'resolved' ? 'resolved' : 'rejected',
        attempt: this.polls,
        durationMs: elapsedMs(this.origin.clock, this.startedAt),
        errorCode: error === undefined ? undefined : errorCode(error),
        ...this.#event(),
      });
    }
    if (error === undefined || this.isObserved || !hasSubscribers('tinkex:future:unobserved_failure')) return;
    const errorName = error instanceof Error ? error.name : typeof error;
    publish('tinkex:future:unobserved_failure', { errorCode: errorCode(error), errorName, ...this.#event() });
  }

  #event() {
    const [requestId] = this.requestIds;
    return { requestType: this.origin.requestType, callId: this.callId, requestId, ...this.origin.source() };
  }
}

interface PromiseWithHooks {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function withHooks(): PromiseWithHooks {
  let resolve: () => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(ignore);
  return { promise, resolve, reject };
}

function errorCode(error: unknown): string {
  return TinkexError.isInstance(error) ? error.code : 'UNKNOWN';
}

function ignore(): void {
  // Not awaited yet; a later wait gets the outcome from the promise itself.
}
