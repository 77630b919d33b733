import { AbortedError } from '@tinkex/types';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import type { Clock } from '../clock/clock.js';
import { type MonotonicTime, remainingMs, timeAfter } from '../clock/monotonic-time.js';
import { sleep } from '../clock/sleep.js';

/** Empty queues that are kept. Beyond it (calls with `timeoutMs` differ in what is left of it) they go when they empty. */
const KEPT_QUEUES = 16;

/** Everything that a client has in flight: deadlines share timers here, and closing the client ends it all. */
export class OpenRequests {
  readonly #clock: Clock;
  readonly #queues = new Map<number, DeadlineQueue>();
  readonly #waits = new Set<AbortController>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The queue for work with this limit. Calls differ in few limits, so there are few queues. */
  queue(limitMs: number): DeadlineQueue {
    let queue = this.#queues.get(limitMs);
    if (queue === undefined) {
      queue = new DeadlineQueue(this.#clock, limitMs, () => {
        if (this.#queues.size > KEPT_QUEUES) this.#queues.delete(limitMs);
      });
      this.#queues.set(limitMs, queue);
    }
    return queue;
  }

  /** Waits between two attempts. The signal and `close` both end it immediately with `AbortedError`. */
  async wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw abortedBy(signal);
    const wait = new AbortController();
    const unfollow = signal && onAbort(signal, () => wait.abort(signal.reason));
    this.#waits.add(wait);
    try {
      await sleep(this.#clock, delayMs, wait.signal);
    } finally {
      this.#waits.delete(wait);
      unfollow?.();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const wait of [...this.#waits]) wait.abort(closedError());
    for (const queue of [...this.#queues.values()]) queue.cancelAll();
  }
}

/** The error of a call on a closed client. */
export function closedError(): AbortedError {
  return new AbortedError({ message: 'The client is closed.' });
}

/** Work with a deadline. It carries the links of its queue, so that entering and leaving allocate nothing. */
export interface Expiring {
  deadline: MonotonicTime;
  next: Expiring | undefined;
  previous: Expiring | undefined;
  /** The deadline has passed. The work must leave its queue. */
  expired(): void;
  /** The client is closed. The work must leave its queue. */
  cancelled(reason: Error): void;
}

/**
 * Deadlines of equal length: they expire in the order in which they were set, so one timer serves all of them. A thousand
 * calls in flight hold one timer. docs/decisions/0201-http-hot-path.md
 */
export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onEmpty: () => void;
  #first: Expiring | undefined;
  #last: Expiring | undefined;
  #timer: unknown;

  constructor(clock: Clock, limitMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onEmpty = onEmpty;
  }

  enter(work: Expiring): void {
    work.deadline = timeAfter(this.#clock, this.#limitMs);
    work.previous = this.#last;
    work.next = undefined;
    if (this.#last === undefined) this.#first = work;
    else this.#last.next = work;
    this.#last = work;
    if (this.#timer === undefined && this.#limitMs !== Number.POSITIVE_INFINITY) this.#setTimer(this.#limitMs);
  }

  leave(work: Expiring): void {
    if (work.previous === undefined) this.#first = work.next;
    else work.previous.next = work.next;
    if (work.next === undefined) this.#last = work.previous;
    else work.next.previous = work.previous;
    work.next = undefined;
    work.previous = undefined;
    // The timer of work that left early stays for the next in the queue; only an empty queue clears it.
    if (this.#first !== undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#onEmpty();
  }

  /** Cancels everything in the queue, as closing the client does. */
  cancelAll(): void {
    for (let work = this.#first; work !== undefined; work = this.#first) work.cancelled(closedError());
  }

  #setTimer(delayMs: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#expireDue(), delayMs);
  }

  #expireDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonicMs();
    for (let work = this.#first; work !== undefined && work.deadline <= now; work = this.#first) work.expired();
    if (this.#first !== undefined) this.#setTimer(remainingMs(this.#clock, this.#first.deadline));
  }
}
