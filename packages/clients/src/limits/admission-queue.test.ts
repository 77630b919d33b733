import { AbortedError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { AdmissionQueue } from './admission-queue.js';

describe('AdmissionQueue as a byte limit', () => {
  it('lets one oversized item in and holds the next until the budget is not negative', async () => {
    const budget = new AdmissionQueue(100, 0);
    expect(budget.tryEnter(1_000)).toBe(true);
    expect(budget.remaining).toBe(-900);
    let isIn = false;
    const second = budget.enter(1).then(() => {
      isIn = true;
    });
    await Promise.resolve();
    expect(isIn).toBe(false);
    budget.leave(1_000);
    await second;
    expect(budget.remaining).toBe(99);
  });

  it('admits in the order of arrival and does not let a small item overtake', async () => {
    const budget = new AdmissionQueue(10, 0);
    budget.tryEnter(20);
    const order: string[] = [];
    const big = budget.enter(30).then(() => order.push('big'));
    const small = budget.enter(1).then(() => order.push('small'));
    expect(budget.tryEnter(0)).toBe(false);
    budget.leave(20);
    await big;
    expect(order).toEqual(['big']);
    budget.leave(30);
    await small;
    expect(order).toEqual(['big', 'small']);
  });

  it('takes nothing for a caller that was aborted while waiting, and removes its listener', async () => {
    const budget = new AdmissionQueue(0, 0);
    budget.tryEnter(5);
    const controller = new AbortController();
    const waiting = budget.enter(7, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toBeInstanceOf(AbortedError);
    expect(budget.waiting).toBe(0);
    budget.leave(5);
    expect(budget.remaining).toBe(0);
  });
});

describe('AdmissionQueue as a counting limit', () => {
  it('never has more inside than its limit and ends where it began', async () => {
    const semaphore = new AdmissionQueue(3, 1);
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        await semaphore.enter(1);
        inside += 1;
        most = Math.max(most, inside);
        await Promise.resolve();
        inside -= 1;
        semaphore.leave(1);
      }),
    );
    expect(most).toBe(3);
    expect(semaphore.remaining).toBe(3);
  });

  it('rejects at once when the signal has fired already', async () => {
    const semaphore = new AdmissionQueue(1, 1);
    await expect(semaphore.enter(1, AbortSignal.abort())).rejects.toBeInstanceOf(AbortedError);
    expect(semaphore.remaining).toBe(1);
  });
});
