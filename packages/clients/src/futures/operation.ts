import type { CallScope } from '../calls/call-scope.js';
import type { FutureCore } from './future-core.js';
import type { FutureHandle } from './future-progress.js';
import type { QueueReport } from './queue-state.js';

/** Whoever follows the polling of a promise. */
export interface PollObserver {
  /** A poll was answered. */
  polled(): void;
  /** The server told a queue state, changed or not. */
  queueStateIs(report: QueueReport, requestId: string): void;
}

/** What the work of one future gets to report with. Its members may be taken apart: none of them needs `this`. */
export interface Operation {
  /** Aborted by the caller's signal or time limit, or when the client closes. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** The same for a single HTTP request of the connection; undefined when closing the client, which ends requests anyway, is all that can stop it. */
  readonly requestSignal: AbortSignal | undefined;
  /** When the method was called, on the injected clock. */
  readonly startedAtMs: number;
  /** The server has accepted everything: the promise ids, in data order. */
  readonly accepted: (requestIds: readonly string[]) => void;
  /** Hand it to `PollJob.observer`. */
  readonly observer: PollObserver;
  /** A poll was answered; for `PollJob.onPolled`, where no observer is given. */
  readonly polled: () => void;
  /** For `PollJob.onQueueState`, where no observer is given. */
  readonly queueState: (report: QueueReport, requestId: string) => void;
}

/** Eager work with a future in front of it. */
export interface OperationSpec<T> {
  /** The operation's name in the protocol, such as `OptimStep`. */
  readonly requestType: FutureHandle['requestType'];
  /** Starts at once, before `startOperation` returns: what it does up to its first `await` is synchronous with the user's call. */
  readonly run: (operation: Operation) => Promise<T>;
}

/** An {@link Operation} in two words of memory: what it hands out is made when asked for. */
export class RunningOperation<T> implements Operation {
  readonly #core: FutureCore<T>;
  readonly #scope: CallScope;

  constructor(core: FutureCore<T>, scope: CallScope) {
    this.#core = core;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#scope.requestSignal;
  }

  get startedAtMs(): number {
    return this.#core.startedAtMs;
  }

  get observer(): PollObserver {
    return this.#core;
  }

  get accepted(): Operation['accepted'] {
    return (requestIds) => this.#core.accept(requestIds);
  }

  get polled(): Operation['polled'] {
    return () => this.#core.polled();
  }

  get queueState(): Operation['queueState'] {
    return (report, requestId) => this.#core.queueStateIs(report, requestId);
  }
}
