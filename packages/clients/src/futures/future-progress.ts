import type { QueueState } from '@tinkex/types';

/**
 * `submitting`: not accepted by the server yet (waiting for its turn, for room, or for the answer); `pending`: accepted, being
 * polled; then `resolved` or `rejected`.
 */
export type FutureStatus = 'submitting' | 'pending' | 'resolved' | 'rejected';

/** One observation of a future under way. */
export interface FutureProgress {
  readonly status: FutureStatus;
  /** The server's promise id, once accepted. A call that was split has several; this is the first. */
  readonly requestId?: string;
  /** As the server last reported it. Final results carry none. */
  readonly queueState?: QueueState;
  /** The server's explanation of the queue state. */
  readonly queueStateReason?: string;
  /** How many polls were answered. */
  readonly polls: number;
  /** Since the method was called. */
  readonly elapsedMs: number;
}

/** A change of queue state, as given to `onQueueState` callbacks. */
export interface QueueStateChange {
  readonly state: QueueState;
  readonly reason?: string;
  /** The promise it is about. */
  readonly requestId: string;
}

/** What is needed to wait for a future in another process: plain JSON, made by `future.toJSON()`, read by `service.futures.attach`. */
export interface FutureHandle<Type extends string = string> {
  readonly kind: 'tinkex.future';
  readonly version: 1;
  readonly requestType: Type;
  /** In data order; empty while nothing was accepted. */
  readonly requestIds: readonly string[];
}
