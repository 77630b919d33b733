import { AdmissionQueue } from './admission-queue.js';

/** A request during which the process was idle this long waits for the network: more of them at the same time are faster. */
const SLOW_MS = 40;

/**
 * A limit on requests at the same time that starts low and grows by one with every slow request. A few connections are enough for a close
 * server; for a distant one the limit doubles with each round trip, up to its maximum. The time that this process is busy does not count.
 */
export class GrowingLimit {
  readonly queue: AdmissionQueue;
  readonly #idleMs: () => number;
  #withheld: number;

  /**
   * @param max - How many may be in progress in the end.
   * @param initial - How many may be in progress in the beginning. Default: `max`.
   * @param idleMs - How long the process has been idle since it started.
   */
  constructor(max: number, initial = max, idleMs: () => number = loopIdleMs) {
    this.#idleMs = idleMs;
    this.queue = AdmissionQueue.counting(max);
    this.#withheld = Math.max(max - initial, 0);
    if (this.#withheld > 0) this.queue.tryEnter(this.#withheld);
  }

  /** Begins a request that was admitted. Pass the result to {@link leave}. */
  begin(): number {
    return this.#withheld === 0 ? 0 : this.#idleMs();
  }

  /** Ends a request that was admitted. */
  leave(begin: number): void {
    this.queue.leave();
    if (this.#withheld === 0 || this.#idleMs() - begin < SLOW_MS) return;
    this.#withheld -= 1;
    this.queue.leave();
  }
}

/** A runtime that does not measure its idle time counts all of it: then every request from afar is slow, which it is. */
function loopIdleMs(): number {
  const { eventLoopUtilization } = performance as Partial<typeof performance>;
  return eventLoopUtilization?.call(performance).idle || performance.now();
}
