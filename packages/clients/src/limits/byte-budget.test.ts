import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { ByteBudget } from './byte-budget.js';

async function settled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  promise.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
}

describe('ByteBudget', () => {
  it('lets one oversized item in and holds the next until the balance is not negative', async () => {
    const budget = new ByteBudget(100);
    const leave = await budget.enter(500);
    const next = budget.enter(1);
    expect(await settled(next)).toBe(false);
    expect(budget.usedBytes).toBe(500);
    leave();
    (await next)();
    expect(budget.usedBytes).toBe(0);
  });

  it('admits at a balance of exactly zero', async () => {
    const budget = new ByteBudget(100);
    const leave = await budget.enter(100);
    const second = await budget.enter(7);
    expect(budget.usedBytes).toBe(107);
    leave();
    second();
    expect(budget.usedBytes).toBe(0);
  });

  it('serves waiters in order, as many as fit', async () => {
    const budget = new ByteBudget(10);
    const leave = await budget.enter(20);
    const order: number[] = [];
    const waiters = [5, 6, 7].map((bytes) =>
      budget.enter(bytes).then((exit) => {
        order.push(bytes);
        return exit;
      }),
    );
    leave();
    const [first, second] = [await waiters[0], await waiters[1]];
    expect(order).toEqual([5, 6]);
    expect(budget.waiting).toBe(1);
    first?.();
    second?.();
    (await waiters[2])?.();
    expect(order).toEqual([5, 6, 7]);
  });

  it('gives bytes back only once', async () => {
    const budget = new ByteBudget(10);
    const leave = await budget.enter(4);
    leave();
    leave();
    expect(budget.usedBytes).toBe(0);
  });

  it('leaves the line on abort, keeps no listener and takes no bytes', async () => {
    const budget = new ByteBudget(1);
    const leave = await budget.enter(5);
    const controller = new AbortController();
    const waiting = budget.enter(3, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toSatisfy((error) => AbortedError.isInstance(error) && (error.cause as Error).message === 'enough');
    expect(budget.waiting).toBe(0);
    leave();
    expect(budget.usedBytes).toBe(0);
    await expect(budget.enter(1, controller.signal)).rejects.toSatisfy(AbortedError.isInstance);
  });
});
