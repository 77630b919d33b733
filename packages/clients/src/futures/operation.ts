import type { FutureHandle } from './future-progress.js';
import type { QueueReport } from './queue-state.js';

/** What the work of one future gets to report with. */
export interface Operation {
  /** Aborted by the caller's signal or time limit, or when the client closes. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** When the method was called, on the injected clock. */
  readonly startedAtMs: number;
  /** The server has accepted everything: the promise ids, in data order. */
  accepted(requestIds: readonly string[]): void;
  /** A poll was answered; hand it to `PollJob.onPolled`. */
  readonly polled: () => void;
  /** Hand it to `PollJob.onQueueState`. */
  readonly queueState: (report: QueueReport, requestId: string) => void;
}

/** Eager work with a future in front of it. */
export interface OperationSpec<T> {
  /** The operation's name in the protocol, such as `OptimStep`. */
  readonly requestType: FutureHandle['requestType'];
  /** Starts at once, before `startOperation` returns: what it does up to its first `await` is synchronous with the user's call. */
  readonly run: (operation: Operation) => Promise<T>;
}
