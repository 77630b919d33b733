import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { Slots } from './slots.js';

describe('Slots', () => {
  it('admits up to the limit, then in order of arrival, express first', async () => {
    const slots = new Slots(1);
    await slots.enter();
    const order: string[] = [];
    const all = [
      slots.enter().then(() => order.push('first')),
      slots.enter().then(() => order.push('second')),
      slots.enter(undefined, true).then(() => order.push('express')),
    ];
    expect(slots.waiting).toBe(3);
    for (let leaves = 0; leaves < 3; leaves += 1) {
      slots.leave();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(order).toEqual(['express', 'first', 'second']);
    slots.leave();
    expect(slots.used).toBe(0);
  });

  it('an aborted waiter leaves the line without using a slot', async () => {
    const slots = new Slots(1);
    await slots.enter();
    const controller = new AbortController();
    const waiting = slots.enter(controller.signal);
    controller.abort();
    await expect(waiting).rejects.toSatisfy(AbortedError.isInstance);
    slots.leave();
    expect(slots.used).toBe(0);
    expect(slots.waiting).toBe(0);
  });
});
