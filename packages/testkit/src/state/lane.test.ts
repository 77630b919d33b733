import { VirtualClock } from '@tinkex/http/testing';
import { describe, expect, it } from 'vitest';
import type { Operation } from './executor.js';
import { FutureRecord } from './future-record.js';
import { Lane } from './lane.js';

function operation(seqId: number): Operation {
  const future = new FutureRecord(String(seqId), 'OptimStep');
  return { future, route: 'optimStep', run: () => seqId };
}

function laneOf(clock: VirtualClock, ran: number[], gapMs = 100): Lane {
  return new Lane({
    clock,
    gapMs,
    execute: async ({ future }) => {
      ran.push(Number(future.requestId));
    },
  });
}

const accepted = { fingerprint: 'f', requestId: 'r' };

describe('Lane', () => {
  it('waits for lower numbers and skips those that were refused', async () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    const lane = laneOf(clock, ran);
    lane.submit(3, operation(3), accepted);
    lane.skip(1);
    await clock.advance(0);
    expect([ran, lane.next, lane.queued, lane.highest]).toEqual([[], 2, 1, 3]);
    lane.submit(2, operation(2), accepted);
    await clock.advance(0);
    expect(ran).toEqual([2, 3]);
    expect([lane.isPast(1), lane.isPast(2), lane.isPast(4)]).toEqual([true, false, false]);
  });

  it('gives a gap up when nothing moved for a while, and only then', async () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    const lane = laneOf(clock, ran);
    lane.submit(5, operation(5), accepted);
    await clock.advance(99);
    lane.submit(4, operation(4), accepted);
    await clock.advance(99);
    expect(ran).toEqual([]);
    await clock.advance(1);
    expect(ran).toEqual([4, 5]);
    expect(clock.pending).toBe(0);
  });

  it('waits forever without a gap limit, and for nothing once closed', async () => {
    const clock = new VirtualClock();
    const lane = laneOf(clock, [], Number.POSITIVE_INFINITY);
    lane.submit(2, operation(2), accepted);
    expect(clock.pending).toBe(0);
    const finite = laneOf(clock, []);
    finite.submit(2, operation(2), accepted);
    expect(clock.pending).toBe(1);
    finite.close();
    expect([clock.pending, finite.queued]).toEqual([0, 0]);
  });

  it('does not skip what was accepted', () => {
    const lane = laneOf(new VirtualClock(), []);
    lane.submit(2, operation(2), accepted);
    lane.skip(2);
    expect(lane.find(2)).toBe(accepted);
    expect(lane.queued).toBe(1);
  });
});
