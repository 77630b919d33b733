import type { Clock } from '@tinkex/http';
import type { EventSource } from '@tinkex/types';
import type { CallScope } from '../runtime/call-scope.js';
import type { Lifetime } from '../runtime/client-lifetime.js';
import type { Startable, StartLine } from '../sampling/start-queue.js';
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
  /** Starts before `startOperation` returns, unless there is a {@link line}: what it does up to its first `await` is synchronous with the user's call. */
  readonly run: (operation: Operation) => Promise<T>;
  /** Where the work waits for its turn. Without one it starts within the user's call. */
  readonly line?: StartLine;
}

/** Where operations live: one for each client. */
export interface OperationHost {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly source: () => EventSource;
  /** Told of each operation that failed. */
  readonly onFailure?: (error: unknown) => void;
}

/** An {@link Operation} without closures of its own while it stands in line: there may be tens of thousands. What it hands out is made when asked for. */
export class RunningOperation<T> implements Operation, Startable {
  readonly #host: OperationHost;
  readonly #spec: OperationSpec<T>;
  readonly #core: FutureCore<T>;
  readonly #scope: CallScope;

  constructor(host: OperationHost, spec: OperationSpec<T>, core: FutureCore<T>, scope: CallScope) {
    this.#host = host;
    this.#spec = spec;
    this.#core = core;
    this.#scope = scope;
  }

  /** Starts the work, or stands in line for it. */
  begin(): void {
    const { line } = this.#spec;
    if (this.#scope.failure !== undefined) this.#fail(this.#scope.failure);
    else if (line === undefined || line.tryEnter()) this.start();
    else {
      line.join(this);
      // Closing the client lets everybody in, to fail there.
      this.#scope.requestSignal?.addEventListener('abort', () => {
        if (line.remove(this)) this.#fail(this.#scope.failure);
      });
    }
  }

  start(): void {
    const { line, run } = this.#spec;
    // Not an async function: tens of thousands of futures may be pending, and a frame for each would be most of their memory.
    run(this).then(
      (value) => {
        line?.leave();
        this.#scope.end();
        this.#core.resolve(value);
      },
      (error: unknown) => {
        line?.leave();
        this.#fail(error);
      },
    );
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

  #fail(error: unknown): void {
    const failure = this.#scope.explain(error);
    this.#core.reject(failure);
    // Parts of a failed call that still wait or poll have nobody to report to.
    this.#scope.abort(error);
    this.#scope.end();
    this.#host.onFailure?.(failure);
  }
}
