import { AbortedError } from '@tinkex/types';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import type { Clock } from '../clock/clock.js';
import { sleep } from '../clock/sleep.js';
import { DeadlineQueue, type Expiring } from './deadline-queue.js';

/** Queues kept although they are empty. Beyond it (each call has its own total limit) they go as they empty. */
const KEPT_QUEUES = 16;

/** Everything a client has under way: deadlines share timers here, and closing the client ends it all. */
export class Lifetime {
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

  /** Where work with this limit waits for its deadline. Calls differ in few limits, so there are few queues. */
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

  /** Waits between two attempts; the signal and `close` both end it at once with `AbortedError`. */
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
    for (const queue of [...this.#queues.values()]) queue.endAll((work: Expiring) => work.cancelled(closedError()));
  }
}

/** The error of a call on a closed client. */
export function closedError(): AbortedError {
  return new AbortedError({ message: 'The client is closed.' });
}
