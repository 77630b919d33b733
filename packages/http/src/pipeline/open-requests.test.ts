import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEVER } from '../clock/monotonic-time.js';
import { VirtualClock } from '../clock/virtual-clock.js';
import { DeadlineQueue, type Expiring } from './open-requests.js';

class Work implements Expiring {
  deadline = NEVER;
  next: Expiring | undefined = undefined;
  previous: Expiring | undefined = undefined;
  expiredAtMs: number | undefined;
  reason: Error | undefined;
  readonly #queue: DeadlineQueue;
  readonly #clock: VirtualClock;

  constructor(queue: DeadlineQueue, clock: VirtualClock) {
    this.#queue = queue;
    this.#clock = clock;
  }

  expired(): void {
    this.expiredAtMs = this.#clock.elapsedMs;
    this.#queue.leave(this);
  }

  cancelled(reason: Error): void {
    this.reason = reason;
    this.#queue.leave(this);
  }
}

describe('DeadlineQueue', () => {
  it('ends each work exactly at its deadline, in any order of entering and leaving, with one timer at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(40), fc.boolean()), { maxLength: 30 }), async (steps) => {
        const clock = new VirtualClock({ startMs: 0 });
        const queue = new DeadlineQueue(clock, 100, () => undefined);
        const running: Work[] = [];
        const ended: [Work, number][] = [];
        for (const [waitMs, leavesEarly] of steps) {
          const work = new Work(queue, clock);
          queue.enter(work);
          ended.push([work, clock.elapsedMs + 100]);
          running.push(work);
          if (leavesEarly) {
            const first = running.find((other) => other.expiredAtMs === undefined);
            if (first !== undefined) {
              queue.leave(first);
              ended.splice(
                ended.findIndex(([other]) => other === first),
                1,
              );
              running.splice(running.indexOf(first), 1);
            }
          }
          expect(clock.pending).toBeLessThanOrEqual(1);
          await clock.advance(waitMs);
        }
        await clock.advance(1_000);
        for (const [work, dueMs] of ended) expect(work.expiredAtMs).toBe(dueMs);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('without a limit needs no timer, and can still be ended', () => {
    const clock = new VirtualClock();
    const queue = new DeadlineQueue(clock, Number.POSITIVE_INFINITY, () => undefined);
    const works = [new Work(queue, clock), new Work(queue, clock)];
    for (const work of works) queue.enter(work);
    expect(clock.pending).toBe(0);
    queue.cancelAll();
    expect(works.map(({ reason }) => reason?.message)).toEqual(['The client is closed.', 'The client is closed.']);
  });
});
