import { getEventListeners } from 'node:events';
import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { AdmissionQueue } from './admission-queue.js';

async function settled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  promise.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
}

describe('AdmissionQueue as a byte limit', () => {
  it('lets one oversized item in and holds the next until the balance is not negative', async () => {
    const budget = AdmissionQueue.bytes(100);
    await budget.enter(500);
    const next = budget.enter(1);
    expect(await settled(next)).toBe(false);
    expect(budget.used).toBe(500);
    budget.leave(500);
    await next;
    expect(budget.used).toBe(1);
  });

  it('admits at a balance of exactly zero', () => {
    const budget = AdmissionQueue.bytes(100);
    expect(budget.tryEnter(100)).toBe(true);
    expect(budget.tryEnter(7)).toBe(true);
    expect(budget.tryEnter(0)).toBe(false);
    expect(budget.used).toBe(107);
  });

  it('serves the line in order, as many as fit, and lets no small item overtake', async () => {
    const budget = AdmissionQueue.bytes(10);
    budget.tryEnter(20);
    const order: number[] = [];
    const waiters = [5, 6, 7].map((bytes) => budget.enter(bytes).then(() => order.push(bytes)));
    expect(budget.tryEnter(0)).toBe(false);
    budget.leave(20);
    await Promise.all(waiters.slice(0, 2));
    expect(order).toEqual([5, 6]);
    expect(budget.waiting).toBe(1);
    budget.leave(5);
    await waiters[2];
    expect(order).toEqual([5, 6, 7]);
  });

  it('takes nothing for a caller that was aborted while waiting, and keeps no listener', async () => {
    const budget = AdmissionQueue.bytes(1);
    budget.tryEnter(5);
    const controller = new AbortController();
    const waiting = budget.enter(3, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toSatisfy((error) => AbortedError.isInstance(error) && (error.cause as Error).message === 'enough');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(budget.waiting).toBe(0);
    budget.leave(5);
    expect(budget.used).toBe(0);
  });
});

describe('AdmissionQueue as a counting limit', () => {
  it('never has more inside than its limit and ends where it began', async () => {
    const slots = AdmissionQueue.counting(3);
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        await slots.enter();
        inside += 1;
        most = Math.max(most, inside);
        await Promise.resolve();
        inside -= 1;
        slots.leave();
      }),
    );
    expect(most).toBe(3);
    expect(slots.used).toBe(0);
  });

  it('admits express callers before all others', async () => {
    const slots = AdmissionQueue.counting(1);
    await slots.enter();
    const order: string[] = [];
    const all = [
      slots.enter().then(() => order.push('first')),
      slots.enter().then(() => order.push('second')),
      slots.enter(1, undefined, true).then(() => order.push('express')),
    ];
    expect(slots.waiting).toBe(3);
    for (const entered of [all[2], all[0], all[1]]) {
      slots.leave();
      await entered;
    }
    expect(order).toEqual(['express', 'first', 'second']);
  });

  it('rejects immediately when the signal has fired already', async () => {
    const slots = AdmissionQueue.counting(1);
    await expect(slots.enter(1, AbortSignal.abort())).rejects.toBeInstanceOf(AbortedError);
    expect(slots.used).toBe(0);
  });

  it('lets items through one at a time when the limit is negative, instead of never', async () => {
    const budget = AdmissionQueue.bytes(-5);
    await budget.enter(30);
    expect(budget.tryEnter(1)).toBe(false);
    budget.leave(30);
    expect(budget.tryEnter(1)).toBe(true);
  });
});
