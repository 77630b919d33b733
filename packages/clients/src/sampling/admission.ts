import { findNodeModule } from '@tinkex/http/runtime';
import { AdmissionQueue } from '../limits/admission-queue.js';
import { GrowingLimit } from '../limits/growing-limit.js';
import type { TenantRateLimiter } from '../limits/rate-limiter.js';

/** A call that has not started yet. */
export interface Startable {
  /** Called when it may start. It counts as in progress until {@link StartQueue.leave}. */
  start(): void;
}

/** The share of calls ended in a busy turn that are replaced. The rest reduces how many are in progress. */
const REPLACED_IN_BUSY_TURN = 7 / 8;

/**
 * A limit on the calls in progress, first come, first served, that also starts calls no faster than the process handles them. A few are
 * always in progress. More start when a turn of the event loop is idle: no call ended in it. In a busy turn only most of the calls that
 * ended are replaced.
 *
 * A slow server therefore receives every call within milliseconds, up to the limit. With a fast server the process itself is the bottleneck:
 * calls that start early would only occupy the memory of a request, and no result would arrive sooner.
 */
export class StartQueue {
  readonly #limit: number;
  readonly #startsPerTurn: number;
  readonly #queue = new Set<Startable>();
  readonly #turn = (): void => this.#takeTurn();
  #inProgress = 0;
  /** How many may start beyond those that are always in progress. */
  #allowance = 0;
  #hasAnyEnded = false;
  #isTurnComing = false;

  /**
   * @param limit - How many may be in progress.
   * @param startsPerTurn - How many are always in progress, and how many more start in an idle turn.
   */
  constructor(limit: number, startsPerTurn: number) {
    this.#limit = limit;
    this.#startsPerTurn = startsPerTurn;
  }

  /** Enters immediately if no call waits and there is room. */
  tryEnter(): boolean {
    if (this.#queue.size > 0 || !this.#hasRoom()) return false;
    this.#enter();
    return true;
  }

  /** Adds a call to the end of the queue. */
  join(call: Startable): void {
    this.#queue.add(call);
    this.#expectTurn();
  }

  /** Removes a call from the queue. False when it is not in it, or no longer. */
  remove(call: Startable): boolean {
    return this.#queue.delete(call);
  }

  /** Ends a call that was in progress. */
  leave(): void {
    this.#inProgress -= 1;
    this.#allowance = Math.min(this.#allowance + REPLACED_IN_BUSY_TURN, this.#limit);
    this.#hasAnyEnded = true;
    // Calls that start together cost less. But a turn in which many end may be long, and the server should not run out of work meanwhile.
    if (this.#allowance >= this.#startsPerTurn) this.#startSome();
    else this.#expectTurn();
  }

  #hasRoom(): boolean {
    return this.#inProgress < this.#limit && (this.#inProgress < this.#startsPerTurn || this.#allowance >= 1);
  }

  #enter(): void {
    this.#inProgress += 1;
    this.#allowance = Math.max(this.#allowance - 1, 0);
  }

  /** At the limit no turn is scheduled until a call leaves, so that waiting costs nothing. */
  #expectTurn(): void {
    if (this.#isTurnComing || this.#queue.size === 0 || this.#inProgress >= this.#limit) return;
    this.#isTurnComing = true;
    nextTurn(this.#turn);
  }

  #takeTurn(): void {
    this.#isTurnComing = false;
    if (!this.#hasAnyEnded) this.#allowance = this.#startsPerTurn;
    this.#hasAnyEnded = false;
    this.#startSome();
  }

  #startSome(): void {
    for (const call of this.#queue) {
      if (!this.#hasRoom()) break;
      this.#queue.delete(call);
      this.#enter();
      call.start();
    }
    this.#expectTurn();
  }
}

/** How much a prompt counts in the byte budget during a backoff and shortly after it. */
const THROTTLED_COST_FACTOR = 20;

/** Limits on the sampling submissions of one connection. */
export interface DispatchLimitOptions {
  /** Submissions at the same time. Default 400. */
  readonly maxSubmissions?: number | undefined;
  /** Submissions at the same time in the beginning; slow ones raise it. Default: `maxSubmissions`. */
  readonly initialSubmissions?: number | undefined;
  /** Submissions at the same time during a backoff and for 10 s after it. Default 10. */
  readonly maxThrottledSubmissions?: number | undefined;
  /** Estimated prompt bytes being submitted at the same time. Default 10 MiB. */
  readonly maxPromptBytes?: number | undefined;
}

/** What an admitted submission has taken and must return. */
export interface Admission {
  readonly isThrottled: boolean;
  readonly bytes: number;
  /** Of the {@link GrowingLimit} of submissions. */
  readonly begin: number;
}

/** Admits the sampling submissions of one connection. Each stays inside until the server has accepted it. */
export class DispatchLimits {
  readonly submissions: AdmissionQueue;
  readonly throttledSubmissions: AdmissionQueue;
  readonly promptBytes: AdmissionQueue;
  readonly #limiter: TenantRateLimiter;
  readonly #growing: GrowingLimit;

  constructor(limiter: TenantRateLimiter, options: DispatchLimitOptions = {}) {
    this.#limiter = limiter;
    this.#growing = new GrowingLimit(options.maxSubmissions ?? 400, options.initialSubmissions);
    this.submissions = this.#growing.queue;
    this.throttledSubmissions = AdmissionQueue.counting(options.maxThrottledSubmissions ?? 10);
    this.promptBytes = AdmissionQueue.bytes(options.maxPromptBytes ?? 10 * 1024 * 1024);
  }

  /** Enters immediately when all limits have room: the common case, without a promise. */
  tryEnter(estimatedBytes: number): Admission | undefined {
    if (this.#limiter.isThrottled || !this.submissions.tryEnter(1)) return undefined;
    if (this.promptBytes.tryEnter(estimatedBytes)) return { isThrottled: false, bytes: estimatedBytes, begin: this.#growing.begin() };
    this.submissions.leave(1);
    return undefined;
  }

  /** Waits for each limit in turn. Returns what it holds when the signal fires. */
  async enter(estimatedBytes: number, signal?: AbortSignal): Promise<Admission> {
    await this.submissions.enter(1, signal);
    let isThrottled = false;
    try {
      // Checked at each step: a 429 may arrive while this call waits.
      if (this.#limiter.isThrottled) {
        await this.throttledSubmissions.enter(1, signal);
        isThrottled = true;
      }
      const bytes = this.#limiter.isThrottled ? estimatedBytes * THROTTLED_COST_FACTOR : estimatedBytes;
      await this.promptBytes.enter(bytes, signal);
      return { isThrottled, bytes, begin: this.#growing.begin() };
    } catch (error) {
      if (isThrottled) this.throttledSubmissions.leave(1);
      this.submissions.leave(1);
      throw error;
    }
  }

  /** Returns everything. */
  leave(admission: Admission): void {
    this.promptBytes.leave(admission.bytes);
    if (admission.isThrottled) this.throttledSubmissions.leave(1);
    // A submission that the server holds back says nothing about the distance to it.
    if (this.#limiter.isThrottled) this.submissions.leave(1);
    else this.#growing.leave(admission.begin);
  }
}

/** After the events that are due now. Node's own timers: fake ones of a test would stop the calls. Not every runtime has `setImmediate`. */
function nextTurn(callback: () => void): void {
  const timers = findNodeModule('node:timers');
  if (timers === undefined) setTimeout(callback, 0);
  else timers.setImmediate(callback);
}
