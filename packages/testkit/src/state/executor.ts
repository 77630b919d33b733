import type { Clock } from '@tinkex/http';
import { pause } from '../clock/server-clock.js';
import { EngineUserError } from '../engine/engine.js';
import type { RouteName } from '../routes/route-types.js';
import type { Gate } from '../script/gate.js';
import type { FutureFailure, FutureOutcome, FutureRecord } from './future-record.js';
import type { QueuePause } from './queue-pause.js';
import type { StateChanges } from './state-changes.js';
import type { Tenant } from './tenant.js';

/** Accepted work: the future that takes its result, and how to do it. */
export interface Operation {
  readonly future: FutureRecord;
  readonly route: RouteName;
  run(): unknown;
}

/** Runs accepted operations and settles their futures. Notices when one runs twice. */
export class Executor {
  readonly #clock: Clock;
  readonly #executionMs: (route: RouteName) => number;
  readonly #pause: QueuePause;
  readonly #gate: (route: RouteName) => Gate | undefined;
  readonly #changes: StateChanges;
  readonly #repeated = new Set<string>();
  #isClosed = false;

  constructor(options: {
    readonly clock: Clock;
    readonly executionMs: (route: RouteName) => number;
    readonly pause: QueuePause;
    readonly gate: (route: RouteName) => Gate | undefined;
    readonly changes: StateChanges;
  }) {
    this.#clock = options.clock;
    this.#executionMs = options.executionMs;
    this.#pause = options.pause;
    this.#gate = options.gate;
    this.#changes = options.changes;
  }

  /** Futures whose operation ran more than once: empty unless the server is broken. */
  get repeated(): ReadonlySet<string> {
    return this.#repeated;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Runs the operation in a later turn of the event loop, so that its submission is answered first. Never rejects. */
  async execute(tenant: Tenant, operation: Operation): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    await this.#gate(operation.route)?.hold();
    if (this.#pause.isPaused) await this.#pause.whileActive();
    const delayMs = this.#executionMs(operation.route);
    if (delayMs > 0) await pause(this.#clock, delayMs);
    if (this.#isClosed) return;
    const { future } = operation;
    // Canceled in the meantime.
    if (future.outcome.state !== 'pending') return;
    future.runs += 1;
    if (future.runs > 1) this.#repeated.add(future.requestId);
    const outcome = await outcomeOf(operation);
    try {
      // What the operation has changed is kept before anybody hears of it.
      const kept = this.#changes.settle();
      if (kept !== undefined) await kept;
    } catch (error) {
      this.#settle(tenant, future, { state: 'failed', failure: failureOf(error) });
      return;
    }
    this.#settle(tenant, future, outcome);
  }

  #settle(tenant: Tenant, future: FutureRecord, outcome: FutureOutcome): void {
    if (future.outcome.state === 'pending') tenant.futures.settle(future, outcome);
  }
}

async function outcomeOf(operation: Operation): Promise<FutureOutcome> {
  try {
    return { state: 'resolved', value: await operation.run() };
  } catch (error) {
    return { state: 'failed', failure: failureOf(error) };
  }
}

/** Thrown by operations to fail their future with a category. */
export class OperationFailure extends Error {
  override readonly name = 'OperationFailure';
  readonly failure: FutureFailure;

  constructor(failure: FutureFailure) {
    super(failure.error);
    this.failure = failure;
  }
}

/** Thrown by operations to fail their future because of the caller. */
export class UserFailure extends OperationFailure {
  constructor(error: string) {
    super({ error, category: 'user' });
  }
}

function failureOf(error: unknown): FutureFailure {
  if (error instanceof OperationFailure) return error.failure;
  if (error instanceof EngineUserError) return { error: error.message, category: 'user' };
  return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error), category: 'server' };
}
