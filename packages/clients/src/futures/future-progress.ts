import type { QueueState } from '@tinkex/types';

/**
 * `submitting`: not yet accepted by the server (queued in the client, or waiting for the answer); `pending`: accepted and being polled;
 * then `resolved` or `rejected`.
 */
export type FutureStatus = 'submitting' | 'pending' | 'resolved' | 'rejected';

/** One observation of a future in progress. */
export interface FutureProgress {
  readonly status: FutureStatus;
  /** Set once the server has accepted the operation. A call that was split has several; this is the first. */
  readonly requestId?: string | undefined;
  /** As the server last reported it. Not set once the future has settled. */
  readonly queueState?: QueueState | undefined;
  /** The server's explanation of the queue state. */
  readonly queueStateReason?: string | undefined;
  /** How many polls were answered. */
  readonly polls: number;
  /** Since the method was called. */
  readonly elapsedMs: number;
}

/** A change of queue state, as passed to `onQueueState` callbacks. */
export interface QueueStateChange {
  readonly state: QueueState;
  readonly reason?: string | undefined;
  /** The request whose queue state changed. */
  readonly requestId: string;
}

/** Plain JSON that lets another process wait for a future: made by `future.toJSON()`, read by `service.futures.attach`. */
export interface FutureHandle<Type extends string = string> {
  readonly kind: 'tinkex.future';
  readonly version: 1;
  readonly requestType: Type;
  /** In data order; empty while nothing was accepted. */
  readonly requestIds: readonly string[];
}
