import { type Clock, sleep, systemClock } from '@tinkex/http';
import { AbortedError, type Checkpoint, ConfigurationError, type EventSource, NotFoundError, type TrainingRun } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { tellUser } from '../runtime/notify-user.js';
import { publishRecovery, type RecoveryEvent } from './recovery-event.js';
import { newestTrainingCheckpoint, type RecoveryPolicy, recoveryDelayMs } from './recovery-policy.js';

/** What a monitor reads. A `RestClient` is one. */
export interface RecoveryRecords {
  getTrainingRun(trainingRunId: string, options?: CallOptions): Promise<TrainingRun>;
  listCheckpoints(trainingRunId: string, options?: CallOptions): AsyncIterable<Checkpoint>;
}

/** What a monitor restarts runs with. A `ServiceClient` is one. */
export interface RecoveryService<Client> {
  createTrainingClientFromState(path: string, options?: CallOptions): Promise<Client>;
  createTrainingClientFromStateWithOptimizer(path: string, options?: CallOptions): Promise<Client>;
  /** Who published events are about. A service that does not say has none published. */
  eventSource?(): EventSource;
}

/** Options of {@link RecoveryMonitor}. */
export interface RecoveryMonitorOptions<Client> extends RecoveryPolicy {
  readonly service: RecoveryService<Client>;
  readonly records: RecoveryRecords;
  /** How often watched runs are looked at, milliseconds. Default 30,000. */
  readonly intervalMs?: number;
  /**
   * Told of everything that happens. Take the new client from `recovered`. What it throws becomes a process warning. The same is
   * published as `tinkex:recovery:*` events, without the client.
   */
  readonly onEvent: (event: RecoveryEvent<Client>) => void;
  readonly clock?: Clock;
}

/**
 * Watches training runs and, when the service reports one as corrupted, starts a new run from its newest checkpoint. Opt-in: nothing
 * happens unless you make one and call {@link watch}. Steps after that checkpoint are not repeated for you.
 *
 * The monitor's timers keep no process alive. Close it when you are done.
 */
export class RecoveryMonitor<Client> implements AsyncDisposable {
  readonly #options: RecoveryMonitorOptions<Client>;
  readonly #clock: Clock;
  readonly #watches = new Map<string, AbortController>();

  /** @throws ConfigurationError when `intervalMs` is not above 0: the service would be asked without a pause. */
  constructor(options: RecoveryMonitorOptions<Client>) {
    const { intervalMs } = options;
    if (intervalMs !== undefined && !(intervalMs > 0)) {
      throw new ConfigurationError({ message: `Option intervalMs must be above 0, got ${intervalMs}`, option: 'intervalMs' });
    }
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Ids of the runs being watched. */
  get watched(): readonly string[] {
    return [...this.#watches.keys()];
  }

  /** Starts watching a run; the first look is one interval away. Watching it twice is watching it once. */
  watch(trainingRunId: string): void {
    if (this.#watches.has(trainingRunId)) return;
    const controller = new AbortController();
    this.#watches.set(trainingRunId, controller);
    void this.#watch(trainingRunId, controller.signal);
  }

  /** Stops watching a run, and a recovery of it that is under way. */
  unwatch(trainingRunId: string): void {
    this.#watches.get(trainingRunId)?.abort();
    this.#watches.delete(trainingRunId);
  }

  /**
   * Restarts a run from its newest checkpoint now, whatever the service says about it: for failures you noticed yourself.
   *
   * @throws ConfigurationError when there is no checkpoint to go on from; else the last attempt's error.
   */
  async recover(trainingRunId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Client> {
    const { maxAttempts = 3 } = this.#options;
    const options = signal === undefined ? {} : { signal };
    const startedAtMs = this.#clock.now();
    for (let attempt = 1; ; attempt += 1) {
      if (attempt > 1) await sleep(this.#clock, recoveryDelayMs(attempt, this.#options), signal);
      const attemptAtMs = this.#clock.now();
      try {
        const checkpointPath = await this.#checkpointOf(trainingRunId, options);
        this.#tell({ type: 'attempt', trainingRunId, attempt, checkpointPath });
        const client = await this.#restart(checkpointPath, options);
        this.#tell({ type: 'recovered', trainingRunId, attempt, checkpointPath, client }, startedAtMs);
        return client;
      } catch (error) {
        // Being told to stop is no failure.
        if (signal?.aborted) throw error;
        this.#tell({ type: 'attempt_failed', trainingRunId, attempt, error }, attemptAtMs);
        const isFinal = ConfigurationError.isInstance(error) || AbortedError.isInstance(error);
        if (isFinal || attempt >= maxAttempts) throw error;
      }
    }
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
    let brokenAtMs: number | undefined;
    try {
      for (;;) {
        await sleep(this.#clock, intervalMs, signal, { isBackground: true });
        if (await this.#isBroken(trainingRunId, signal)) break;
      }
      brokenAtMs = this.#clock.now();
      this.#tell({ type: 'broken', trainingRunId });
      await this.recover(trainingRunId, { signal });
    } catch (error) {
      if (!signal.aborted) this.#tell({ type: 'given_up', trainingRunId, error }, brokenAtMs);
    } finally {
      if (!signal.aborted) this.#watches.delete(trainingRunId);
    }
  }

  async #isBroken(trainingRunId: string, signal: AbortSignal): Promise<boolean> {
    try {
      const run = await this.#options.records.getTrainingRun(trainingRunId, { signal });
      return run.corrupted;
    } catch (error) {
      // The run is gone, or the client that was asked is closed: no later look can work.
      if (signal.aborted || NotFoundError.isInstance(error) || AbortedError.isInstance(error)) throw error;
      // One failed look says nothing about the run; the next one may work.
      this.#tell({ type: 'watch_failed', trainingRunId, error });
      return false;
    }
  }

  async #checkpointOf(trainingRunId: string, options: CallOptions): Promise<string> {
    const checkpoints: Checkpoint[] = [];
    for await (const checkpoint of this.#options.records.listCheckpoints(trainingRunId, options)) checkpoints.push(checkpoint);
    const choose = this.#options.chooseCheckpoint ?? ((all: readonly Checkpoint[]) => newestTrainingCheckpoint(all, this.#clock.now()));
    const chosen = choose(checkpoints);
    if (chosen) return chosen.tinkerPath;
    throw new ConfigurationError({
      message: `The run ${trainingRunId} has no checkpoint to go on from. Call saveState from time to time.`,
    });
  }

  /** @param sinceMs - When what has just ended began. */
  #tell(event: RecoveryEvent<Client>, sinceMs?: number): void {
    const { service, onEvent } = this.#options;
    const durationMs = sinceMs === undefined ? undefined : this.#clock.now() - sinceMs;
    // The service may be the user's own; nothing it throws may look like a failed restart.
    tellUser(() => {
      const source = service.eventSource?.();
      if (source !== undefined) publishRecovery(source, event, durationMs);
    }, event);
    tellUser(onEvent, event);
  }

  #restart(path: string, options: CallOptions): Promise<Client> {
    const { service, restoreOptimizer = true } = this.#options;
    return restoreOptimizer
      ? service.createTrainingClientFromStateWithOptimizer(path, options)
      : service.createTrainingClientFromState(path, options);
  }
}
