import { type Clock, elapsedMs, type MonotonicTime, retry, sleep, systemClock } from '@tinkex/http';
import { AbortedError, type Checkpoint, ConfigurationError, type EventSource, NotFoundError, type TrainingRun } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { notifyUser } from '../runtime/notify-user.js';
import { publishRecovery, type RecoveryEvent } from './recovery-event.js';
import { newestTrainingCheckpoint, type RecoveryPolicy, recoveryStrategy } from './recovery-policy.js';

/** What a monitor reads. A `RestClient` is one. */
export interface RecoveryRecords {
  getTrainingRun(trainingRunId: string, options?: CallOptions): Promise<TrainingRun>;
  listCheckpoints(trainingRunId: string, options?: CallOptions): AsyncIterable<Checkpoint>;
}

/** What a monitor restarts runs with. A `ServiceClient` is one. */
export interface RecoveryService<Client> {
  createTrainingClientFromState(path: string, options?: CallOptions): Promise<Client>;
  createTrainingClientFromStateWithOptimizer(path: string, options?: CallOptions): Promise<Client>;
  /** Which client published events come from. Without it, no events are published. */
  eventSource?(): EventSource;
}

/** Options of {@link RecoveryMonitor}. */
export interface RecoveryMonitorOptions<Client> extends RecoveryPolicy {
  readonly service: RecoveryService<Client>;
  readonly records: RecoveryRecords;
  /** How often watched runs are checked, milliseconds. Default 30,000. */
  readonly intervalMs?: number | undefined;
  /**
   * Receives every event. Take the new client from `recovered`. What the callback throws becomes a process warning. The events are also
   * published as `tinkex:recovery:*`, without the client.
   */
  readonly onEvent: (event: RecoveryEvent<Client>) => void;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * Watches training runs and, when the service reports one as corrupted, starts a new run from its newest checkpoint. Opt-in: nothing
 * happens unless you create one and call {@link watch}. It does not repeat the steps after that checkpoint.
 *
 * The monitor's timers do not keep the process alive. Close it when you are done.
 */
export class RecoveryMonitor<Client> implements AsyncDisposable {
  readonly #options: RecoveryMonitorOptions<Client>;
  readonly #clock: Clock;
  readonly #watches = new Map<string, AbortController>();

  /** @throws ConfigurationError when `intervalMs` is not above 0: it would poll the service without a pause. */
  constructor(options: RecoveryMonitorOptions<Client>) {
    const { intervalMs } = options;
    if (intervalMs !== undefined && !(intervalMs > 0)) {
      throw new ConfigurationError({ message: `Option intervalMs must be above 0, got ${intervalMs}.`, option: 'intervalMs' });
    }
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** IDs of the runs being watched. */
  get watched(): readonly string[] {
    return [...this.#watches.keys()];
  }

  /** Starts watching a run; the first check is one interval away. Watching it twice has no effect. */
  watch(trainingRunId: string): void {
    if (this.#watches.has(trainingRunId)) return;
    const controller = new AbortController();
    this.#watches.set(trainingRunId, controller);
    void this.#watch(trainingRunId, controller.signal);
  }

  /** Stops watching a run, and stops its recovery if that is in progress. */
  unwatch(trainingRunId: string): void {
    this.#watches.get(trainingRunId)?.abort();
    this.#watches.delete(trainingRunId);
  }

  /**
   * Restarts a run from its newest checkpoint now, whether or not the service reports it as corrupted: for failures that you detect.
   *
   * @throws ConfigurationError when there is no checkpoint to continue from; else the last attempt's error.
   */
  async recover(trainingRunId: string, options: Pick<CallOptions, 'signal'> = {}): Promise<Client> {
    const { signal } = options;
    const startedAt = this.#clock.monotonicMs();
    return retry((failures) => this.#attempt(trainingRunId, failures + 1, startedAt, signal), {
      strategies: [recoveryStrategy(this.#options)],
      clock: this.#clock,
      signal,
    });
  }

  /** Stops watching everything. Idempotent. */
  close(): void {
    for (const trainingRunId of this.watched) this.unwatch(trainingRunId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #watch(trainingRunId: string, signal: AbortSignal): Promise<void> {
    const { intervalMs = 30_000 } = this.#options;
    let brokenAt: MonotonicTime | undefined;
    try {
      for (;;) {
        await sleep(this.#clock, intervalMs, signal, { isBackground: true });
        if (await this.#isBroken(trainingRunId, signal)) break;
      }
      brokenAt = this.#clock.monotonicMs();
      this.#emit({ type: 'broken', trainingRunId });
      await this.recover(trainingRunId, { signal });
    } catch (error) {
      if (!signal.aborted) this.#emit({ type: 'given_up', trainingRunId, error }, brokenAt);
    } finally {
      if (!signal.aborted) this.#watches.delete(trainingRunId);
    }
  }

  async #attempt(trainingRunId: string, attempt: number, startedAt: MonotonicTime, signal: AbortSignal | undefined): Promise<Client> {
    const attemptAt = this.#clock.monotonicMs();
    try {
      const checkpointPath = await this.#checkpointOf(trainingRunId, { signal });
      this.#emit({ type: 'attempt', trainingRunId, attempt, checkpointPath });
      const client = await this.#restart(checkpointPath, { signal });
      this.#emit({ type: 'recovered', trainingRunId, attempt, checkpointPath, client }, startedAt);
      return client;
    } catch (error) {
      // An abort is not a failure.
      if (!signal?.aborted) this.#emit({ type: 'attempt_failed', trainingRunId, attempt, error }, attemptAt);
      throw error;
    }
  }

  async #isBroken(trainingRunId: string, signal: AbortSignal): Promise<boolean> {
    try {
      const run = await this.#options.records.getTrainingRun(trainingRunId, { signal });
      return run.corrupted;
    } catch (error) {
      // The run is gone, or the client is closed: no later check can succeed.
      if (signal.aborted || NotFoundError.isInstance(error) || AbortedError.isInstance(error)) throw error;
      // One failed check says nothing about the run; the next one may succeed.
      this.#emit({ type: 'watch_failed', trainingRunId, error });
      return false;
    }
  }

  async #checkpointOf(trainingRunId: string, options: CallOptions): Promise<string> {
    const checkpoints: Checkpoint[] = [];
    for await (const checkpoint of this.#options.records.listCheckpoints(trainingRunId, options)) checkpoints.push(checkpoint);
    const choose = this.#options.chooseCheckpoint ?? ((all: readonly Checkpoint[]) => newestTrainingCheckpoint(all, this.#clock.wallMs()));
    const chosen = choose(checkpoints);
    if (chosen) return chosen.tinkerPath;
    throw new ConfigurationError({
      message: `The run ${trainingRunId} has no checkpoint to continue from. Call saveState from time to time.`,
    });
  }

  /** @param since - When the event's work began. */
  #emit(event: RecoveryEvent<Client>, since?: MonotonicTime): void {
    const { service, onEvent } = this.#options;
    const durationMs = since === undefined ? undefined : elapsedMs(this.#clock, since);
    // The service may be a user's object; what it throws must not look like a failed restart.
    notifyUser(() => {
      const source = service.eventSource?.();
      if (source !== undefined) publishRecovery(source, event, durationMs);
    }, event);
    notifyUser(onEvent, event);
  }

  #restart(path: string, options: CallOptions): Promise<Client> {
    const { service, restoreOptimizer = true } = this.#options;
    return restoreOptimizer
      ? service.createTrainingClientFromStateWithOptimizer(path, options)
      : service.createTrainingClientFromState(path, options);
  }
}
