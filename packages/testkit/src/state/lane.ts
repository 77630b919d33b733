import type { Clock } from '@tinkex/http';
import type { Operation } from './executor.js';
import type { AcceptedOperation } from './records.js';

/**
 * The operations of one model: accepted in any order, run one at a time in the order of their sequence IDs. The ID of a refused
 * submission is skipped; a missing ID is skipped when nothing has moved for `gapMs`.
 */
export class Lane {
  readonly #clock: Clock;
  readonly #gapMs: number;
  readonly #execute: (operation: Operation) => Promise<void>;
  readonly #accepted = new Map<number, AcceptedOperation>();
  readonly #queued = new Map<number, Operation>();
  readonly #skipped = new Set<number>();
  #next: number;
  #isRunning = false;
  #gapTimer: unknown;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(options: {
    readonly clock: Clock;
    readonly gapMs: number;
    readonly execute: (operation: Operation) => Promise<void>;
    /** The first sequence ID. Default 1. */
    readonly next?: number | undefined;
    readonly accepted?: Iterable<readonly [number, AcceptedOperation]> | undefined;
  }) {
    this.#clock = options.clock;
    this.#gapMs = options.gapMs;
    this.#execute = options.execute;
    this.#next = options.next ?? 1;
    this.#accepted = new Map(options.accepted ?? []);
  }

  /** The sequence ID that runs next. */
  get next(): number {
    return this.#next;
  }

  /** How many operations are waiting. */
  get queued(): number {
    return this.#queued.size;
  }

  /** The highest sequence ID accepted or skipped so far, 0 at the start. */
  get highest(): number {
    return Math.max(0, this.#next - 1, ...this.#queued.keys());
  }

  accepted(): IterableIterator<[number, AcceptedOperation]> {
    return this.#accepted.entries();
  }

  find(seqId: number): AcceptedOperation | undefined {
    return this.#accepted.get(seqId);
  }

  /** Whether the lane has moved past this sequence ID without running it. */
  isPast(seqId: number): boolean {
    return seqId < this.#next && !this.#accepted.has(seqId);
  }

  submit(seqId: number, operation: Operation, accepted: AcceptedOperation): void {
    this.#accepted.set(seqId, accepted);
    this.#skipped.delete(seqId);
    this.#queued.set(seqId, operation);
    this.#advance();
  }

  /** Accepts an operation without running it. */
  drop(seqId: number, accepted: AcceptedOperation): void {
    this.skip(seqId);
    this.#accepted.set(seqId, accepted);
  }

  /** Skips the sequence ID of a submission that was refused for good. */
  skip(seqId: number): void {
    if (seqId >= this.#next && !this.#accepted.has(seqId)) {
      this.#skipped.add(seqId);
      this.#advance();
    }
  }

  /** Resolves when everything accepted so far has run, or the lane is closed. */
  async idle(): Promise<void> {
    if (this.#isRunning || this.#queued.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idleWaiters.push(resolve);
      });
    }
  }

  /** Stops waiting for anything. */
  close(): void {
    this.#clearGapTimer();
    this.#queued.clear();
    this.#wakeIdle();
  }

  #advance(): void {
    this.#clearGapTimer();
    while (this.#skipped.delete(this.#next)) this.#next += 1;
    if (this.#isRunning) return;
    const operation = this.#queued.get(this.#next);
    if (operation !== undefined) {
      this.#queued.delete(this.#next);
      this.#next += 1;
      this.#isRunning = true;
      void this.#execute(operation).then(() => {
        this.#isRunning = false;
        this.#advance();
      });
    } else if (this.#queued.size === 0) {
      this.#wakeIdle();
    } else if (Number.isFinite(this.#gapMs)) {
      this.#gapTimer = this.#clock.setTimeout(() => this.#closeGap(), this.#gapMs);
    }
  }

  #wakeIdle(): void {
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #closeGap(): void {
    this.#gapTimer = undefined;
    this.#next = Math.min(...this.#queued.keys());
    this.#advance();
  }

  #clearGapTimer(): void {
    if (this.#gapTimer !== undefined) {
      this.#clock.clearTimeout(this.#gapTimer);
      this.#gapTimer = undefined;
    }
  }
}
