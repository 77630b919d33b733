import type { Clock } from '../clock/clock.js';

/** Work with a deadline. It carries its own links: entering and leaving the queue allocates nothing. */
export interface Expiring {
  deadlineAtMs: number;
  next: Expiring | undefined;
  previous: Expiring | undefined;
  /** The deadline has passed. The work must leave its queue. */
  expired(): void;
  /** The work is no longer wanted. It must leave its queue. */
  cancelled(reason: Error): void;
}

/**
 * Deadlines that all lie equally far ahead, so that they fall due in the order in which they were set, and one timer is enough
 * for all of them. A thousand calls in flight then hold one timer instead of a thousand.
 */
export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onEmpty: () => void;
  readonly #fire = (): void => this.#expireDue();
  #first: Expiring | undefined;
  #last: Expiring | undefined;
  #timer: unknown;

  constructor(clock: Clock, limitMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onEmpty = onEmpty;
  }

  enter(work: Expiring): void {
    work.deadlineAtMs = this.#clock.now() + this.#limitMs;
    work.previous = this.#last;
    work.next = undefined;
    if (this.#last === undefined) this.#first = work;
    else this.#last.next = work;
    this.#last = work;
    if (this.#timer === undefined && this.#limitMs !== Number.POSITIVE_INFINITY)
      this.#timer = this.#clock.setTimeout(this.#fire, this.#limitMs);
  }

  leave(work: Expiring): void {
    if (work.previous === undefined) this.#first = work.next;
    else work.previous.next = work.next;
    if (work.next === undefined) this.#last = work.previous;
    else work.next.previous = work.previous;
    work.next = undefined;
    work.previous = undefined;
    // The timer of work that left early stays for the next in line; only an empty queue gives it back.
    if (this.#first !== undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#onEmpty();
  }

  endAll(end: (work: Expiring) => void): void {
    for (let work = this.#first; work !== undefined; work = this.#first) end(work);
  }

  #expireDue(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.now();
    for (let work = this.#first; work !== undefined && work.deadlineAtMs <= nowMs; work = this.#first) work.expired();
    if (this.#first !== undefined) this.#timer = this.#clock.setTimeout(this.#fire, this.#first.deadlineAtMs - nowMs);
  }
}
