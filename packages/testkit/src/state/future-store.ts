import type { Clock } from '@tinkex/http';
import { type MonotonicTime, timeAfter } from '@tinkex/http/clock';
import type { FutureOutcome, FutureRecord } from './future-record.js';

/** How long finished futures can be polled. */
export interface RetentionLimits {
  /** After this time a finished future is gone. */
  readonly retentionMs: number;
  /** More bytes of delivered results than this are not kept. */
  readonly maxDeliveredBytes: number;
}

const MAX_TOMBSTONES = 100_000;

/** One tenant's futures. Pending ones stay; finished ones expire. */
export class FutureStore {
  readonly #clock: Clock;
  readonly #limits: RetentionLimits;
  readonly #records = new Map<string, FutureRecord>();
  readonly #expired = new Set<string>();
  readonly #finished = new Map<string, MonotonicTime>();
  readonly #delivered = new Map<string, number>();
  #deliveredBytes = 0;

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#records.size;
  }

  values(): IterableIterator<FutureRecord> {
    return this.#records.values();
  }

  /** The ids of futures whose result was not delivered yet: a client may still poll them after a restart. */
  *unfetched(): IterableIterator<string> {
    for (const { requestId, isDelivered } of this.#records.values()) {
      if (!isDelivered) yield requestId;
    }
  }

  /** The future, `expired` if it existed once, or undefined if it never did. */
  find(requestId: string): FutureRecord | 'expired' | undefined {
    this.#sweep();
    const record = this.#records.get(requestId);
    return record ?? (this.#expired.has(requestId) ? 'expired' : undefined);
  }

  /** Throws when the id is taken: two operations must never share a future. */
  add(record: FutureRecord): void {
    if (this.#records.has(record.requestId)) throw new Error(`The future ${record.requestId} already exists.`);
    this.#expired.delete(record.requestId);
    this.#records.set(record.requestId, record);
  }

  settle(record: FutureRecord, outcome: FutureOutcome): void {
    if (this.#records.get(record.requestId) === record)
      this.#finished.set(record.requestId, timeAfter(this.#clock, this.#limits.retentionMs));
    record.settle(outcome);
    this.#sweep();
  }

  /** Records that a reply carried the result; `bytes` of it are kept for repeated polls. */
  delivered(record: FutureRecord, bytes: number): void {
    if (record.isDelivered) return;
    record.isDelivered = true;
    this.#delivered.set(record.requestId, bytes);
    this.#deliveredBytes += bytes;
    for (const oldest of this.#delivered.keys()) {
      if (this.#deliveredBytes <= this.#limits.maxDeliveredBytes || oldest === record.requestId) break;
      this.expire(oldest);
    }
  }

  /** Expires a future, as if its retention were over. */
  expire(requestId: string): void {
    const record = this.#records.get(requestId);
    if (record === undefined) return;
    this.#records.delete(requestId);
    this.#finished.delete(requestId);
    this.#deliveredBytes -= this.#delivered.get(requestId) ?? 0;
    this.#delivered.delete(requestId);
    this.#expired.add(requestId);
    for (const oldest of this.#expired) {
      if (this.#expired.size <= MAX_TOMBSTONES) break;
      this.#expired.delete(oldest);
    }
    record.end('failed');
    record.wake();
  }

  /** Calls back when the operation of a future ends, or the future expires before. */
  onEnd(requestId: string, callback: (state: 'finished' | 'failed') => void): void {
    const record = this.#records.get(requestId);
    if (record !== undefined) record.onEnd = callback;
  }

  /** The ids that {@link find} calls expired, oldest first. */
  expired(): Iterable<string> {
    return this.#expired;
  }

  /** Marks ids from before a restart as expired. */
  markExpired(requestIds: Iterable<string>): void {
    for (const requestId of requestIds) this.#expired.add(requestId);
  }

  #sweep(): void {
    if (this.#finished.size === 0) return;
    const now = this.#clock.monotonicMs();
    for (const [requestId, goneAt] of this.#finished) {
      if (goneAt > now) break;
      this.expire(requestId);
    }
  }
}
