import { describe, expect, it } from 'vitest';
import { GrowingLimit } from './growing-limit.js';

/** Enters as often as it can, then ends everything after the process was idle for a while. */
function fillAndEmpty(limit: GrowingLimit, wait: () => void = () => undefined): number {
  const begins: number[] = [];
  while (limit.queue.tryEnter()) begins.push(limit.begin());
  wait();
  for (const begin of begins) limit.leave(begin);
  return begins.length;
}

function setUp(max: number, initial?: number) {
  let idleMs = 7;
  const limit = new GrowingLimit(max, initial, () => idleMs);
  const idle = (ms: number) => (): void => {
    idleMs += ms;
  };
  return { limit, idle };
}

describe('GrowingLimit', () => {
  it('admits few at first, and no more while the process is busy', () => {
    const { limit, idle } = setUp(10, 3);
    expect([1, 2, 3].map(() => fillAndEmpty(limit, idle(5)))).toEqual([3, 3, 3]);
  });

  it('doubles with each round of slow requests, up to its maximum', () => {
    const { limit, idle } = setUp(10, 3);
    expect([1, 2, 3, 4].map(() => fillAndEmpty(limit, idle(100)))).toEqual([3, 6, 10, 10]);
  });

  it('is an ordinary limit without an initial one', () => {
    expect(fillAndEmpty(setUp(4).limit)).toBe(4);
    expect(fillAndEmpty(setUp(4, 9).limit)).toBe(4);
  });
});
