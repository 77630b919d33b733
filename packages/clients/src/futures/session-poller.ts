import { elapsedMs, onAbort, sleep } from '@tinkex/http';
import { AbortedError, ApiStatusError, ConnectionError } from '@tinkex/types';
import type { FutureCompletion, FuturesTarget } from '@tinkex/types/wire';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import { BILLING_PAUSE_MS, type BillingPause } from '../limits/billing-pause.js';
import { CallScope } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';
import { pollFloorMs } from './poll-decision.js';
import { decideSessionPoll, FIRST_SESSION_POLL, type SessionPollAnswer } from './session-poll-decision.js';

export interface SessionPollerParts {
  readonly runtime: Pick<Runtime, 'clock' | 'lifetime'>;
  readonly calls: EndpointCaller;
  readonly billingPause: BillingPause;
}

interface Waiter {
  wake(completion: FutureCompletion): void;
  fail(error: unknown): void;
}

/** How long retrieved results are reported late when nothing is waited for: the next wait may take the report along. */
const REPORT_DELAY_MS = 500;
/** How long a poll that only reports is left open. By then the server has the report, which the next poll repeats. */
const REPORT_HOLD_MS = 2_000;

/**
 * Waits for all samples of one sampling client with a single request: the server holds it and answers which samples have ended. It polls
 * only while a sample is waited for or a retrieved result is still to be reported.
 */
export class SessionPoller {
  readonly #parts: SessionPollerParts;
  readonly #target: FuturesTarget;
  readonly #waiters = new Map<string, Waiter>();
  /** Results that have arrived; the server may delete them. */
  readonly #retrieved = new Set<string>();
  /** Samples that ended before their wait began, and how many calls had begun by then. */
  readonly #early = new Map<string, { readonly completion: FutureCompletion; readonly calls: number }>();
  /** Calls in progress, oldest first. */
  readonly #calls = new Set<number>();
  #callCount = 0;
  #memory = FIRST_SESSION_POLL;
  #emptyAnswers = 0;
  #isRunning = false;
  #failure: { readonly error: unknown } | undefined;
  #cancelReport: (() => void) | undefined;
  #isReported = true;
  /** Ends the running poll if nothing is waited for. */
  #interrupt: (() => void) | undefined;

  constructor(parts: SessionPollerParts, target: FuturesTarget) {
    this.#parts = parts;
    this.#target = target;
  }

  /** Begins a call: a sample that ends from now on may be its sample. Pass the result to {@link endCall}. */
  beginCall(): number {
    this.#callCount += 1;
    this.#calls.add(this.#callCount);
    return this.#callCount;
  }

  /** Ends a call. Samples that ended while older calls were in progress, and that none of them has claimed, are forgotten. */
  endCall(call: number): void {
    this.#calls.delete(call);
    const [oldest = Number.POSITIVE_INFINITY] = this.#calls;
    for (const [requestId, { calls }] of this.#early) {
      if (calls >= oldest) break;
      this.#early.delete(requestId);
    }
  }

  /**
   * Resolves when the sample has ended, well or badly.
   *
   * @throws `AbortedError` when the signal fires or the client is closed; otherwise the error that ended the polling for good.
   */
  wait(requestId: string, signal: AbortSignal | undefined): Promise<FutureCompletion> {
    const early = this.#early.get(requestId);
    if (early !== undefined) {
      this.#early.delete(requestId);
      return Promise.resolve(early.completion);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(stoppedWaiting(requestId, signal));
        return;
      }
      const unfollow =
        signal &&
        onAbort(signal, () => {
          this.#waiters.delete(requestId);
          this.#interrupt?.();
          reject(stoppedWaiting(requestId, signal));
        });
      this.#waiters.set(requestId, {
        wake: (completion) => {
          unfollow?.();
          resolve(completion);
        },
        fail: (error) => {
          unfollow?.();
          reject(error);
        },
      });
      this.#start();
    });
  }

  /** Records that a result, or an error, has arrived. */
  retrieved(requestId: string): void {
    this.#retrieved.add(requestId);
    this.#isReported = false;
    this.#scheduleReport();
  }

  #start(): void {
    this.#cancelReport?.();
    if (this.#isRunning || this.#failure !== undefined) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, lifetime } = this.#parts.runtime;
    const scope = new CallScope(this.#parts.runtime);
    let isInterrupted = false;
    this.#interrupt = () => {
      if (this.#waiters.size > 0) return;
      isInterrupted = true;
      scope.abort('Nothing is waited for.');
    };
    const timer = this.#waiters.size > 0 ? undefined : clock.setTimeout(() => this.#interrupt?.(), REPORT_HOLD_MS);
    try {
      scope.throwIfEnded();
      let isRepeated = false;
      do isRepeated = await this.#pollOnce(scope.signal);
      while (isRepeated || this.#waiters.size > 0);
    } catch (error) {
      if (!isInterrupted || lifetime.isClosed) this.#fail(scope.explain(error));
    }
    clock.clearTimeout(timer);
    scope.end();
    this.#interrupt = undefined;
    this.#isRunning = false;
    if (this.#waiters.size > 0) this.#start();
    else this.#scheduleReport();
  }

  /** Polls once and waits as the answer demands. True when the same poll has to be repeated. */
  async #pollOnce(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#parts.runtime;
    const reported = [...this.#retrieved].sort();
    this.#isReported = true;
    const startedAt = clock.monotonicMs();
    const decision = decideSessionPoll(this.#memory, await this.#send(reported, signal));
    switch (decision.action) {
      case 'wake': {
        this.#memory = decision.memory;
        for (const requestId of reported) this.#retrieved.delete(requestId);
        for (const completion of decision.completions) this.#wake(completion);
        // Held polls pace themselves. Without a floor, samples that end one by one would cost a poll each.
        this.#emptyAnswers = decision.completions.length > 0 ? 0 : this.#emptyAnswers + 1;
        const restMs = pollFloorMs(this.#emptyAnswers, 0) - elapsedMs(clock, startedAt);
        if (restMs > 0 && this.#waiters.size > 0) await sleep(clock, restMs, signal);
        return false;
      }
      case 'retry':
        this.#memory = decision.memory;
        await sleep(clock, decision.delayMs, signal);
        return true;
      case 'bill':
        if (!this.#parts.billingPause.judge(decision.error.status).isPaused) throw decision.error;
        await sleep(clock, BILLING_PAUSE_MS, signal);
        return true;
      case 'end':
        throw decision.error;
    }
  }

  async #send(retrievedRequestIds: readonly string[], signal: AbortSignal): Promise<SessionPollAnswer> {
    const body = { target: this.#target, prevCursor: this.#memory.cursor, retrievedRequestIds };
    try {
      const response = await this.#parts.calls.call('retrieveFutures', { body }, { signal, isScoped: true });
      return { kind: 'success', response };
    } catch (error) {
      if (signal.aborted) throw error;
      if (ApiStatusError.isInstance(error)) return { kind: 'refusal', error };
      if (ConnectionError.isInstance(error)) return { kind: 'fault', error };
      throw error;
    }
  }

  #wake(completion: FutureCompletion): void {
    const { requestId } = completion;
    const waiter = this.#waiters.get(requestId);
    if (waiter === undefined) {
      this.#early.set(requestId, { completion, calls: this.#callCount });
    } else {
      this.#waiters.delete(requestId);
      waiter.wake(completion);
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.fail(error);
  }

  /** In the background: a program that has all its results may exit. */
  #scheduleReport(): void {
    const { clock, lifetime } = this.#parts.runtime;
    if (this.#isReported || this.#waiters.size > 0 || this.#isRunning || this.#failure !== undefined) return;
    if (this.#cancelReport !== undefined || lifetime.isClosed) return;
    const timer = clock.setTimeout(() => this.#start(), REPORT_DELAY_MS);
    const forget = lifetime.onClose(() => this.#cancelReport?.());
    this.#cancelReport = () => {
      this.#cancelReport = undefined;
      clock.clearTimeout(timer);
      forget();
    };
  }
}

function stoppedWaiting(requestId: string, signal: AbortSignal): AbortedError {
  return new AbortedError({ message: `Stopped waiting for sample ${requestId}.`, cause: signal.reason });
}
