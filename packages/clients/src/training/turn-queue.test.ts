import { AbortedError } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('TurnQueue', () => {
  it('numbers from 1, without gaps, at the moment of the call', () => {
    const queue = new TurnQueue();
    expect(queue.reserve(3).seqIds).toEqual([1, 2, 3]);
    expect(queue.reserve().seqIds).toEqual([4]);
    expect(queue.reserve(0).seqIds).toEqual([]);
    expect(queue.nextSeqId).toBe(5);
  });

  it('starts a turn when the one before has ended, and not earlier', async () => {
    const queue = new TurnQueue();
    const [first, second] = [queue.reserve(), queue.reserve()];
    await first.start();
    let isStarted = false;
    const starting = second.start().then(() => {
      isStarted = true;
    });
    await tick();
    expect(isStarted).toBe(false);
    first.end();
    await starting;
    expect(isStarted).toBe(true);
  });

  it('skips a turn that was canceled while it waited, and one that ended before it asked', async () => {
    const queue = new TurnQueue();
    const [first, cancelled, failed, last] = [queue.reserve(), queue.reserve(), queue.reserve(), queue.reserve()];
    await first.start();
    const controller = new AbortController();
    const waiting = cancelled.start(controller.signal);
    const starting = last.start();
    controller.abort();
    await expect(waiting).rejects.toSatisfy(AbortedError.isInstance);
    cancelled.end();
    failed.end();
    first.end();
    await starting;
    last.end();
    expect(queue.pending).toBe(0);
    expect(last.seqIds).toEqual([4]);
  });

  it('runs in call order and never deadlocks, whatever fails or is canceled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('ok', 'fail', 'cancel', 'late'), { maxLength: 60 }), async (fates) => {
        const queue = new TurnQueue();
        const started: number[] = [];
        const work = fates.map(async (fate, index) => {
          const turn = queue.reserve();
          const controller = new AbortController();
          try {
            if (fate === 'late') await tick();
            const starting = turn.start(controller.signal);
            if (fate === 'cancel') controller.abort();
            await starting;
            started.push(index);
            await tick();
            if (fate === 'fail') throw new Error('refused');
          } catch {
            // Every fate must end its turn.
          } finally {
            turn.end();
          }
        });
        await Promise.all(work);
        expect(started).toEqual([...started].sort((a, b) => a - b));
        expect(started).toEqual(expect.arrayContaining(fates.flatMap((fate, index) => (fate === 'cancel' ? [] : [index]))));
        expect(queue.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
