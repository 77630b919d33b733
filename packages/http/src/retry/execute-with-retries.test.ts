import { getEventListeners } from 'node:events';
import { AbortedError, ConnectionError, TimeoutError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.js';
import { executeWithRetries, type OuterRetry } from './execute-with-retries.js';

const lost = new ConnectionError({ message: 'lost' });

describe('executeWithRetries', () => {
  it('tells what it waits for, and counts failures without pauses', async () => {
    const clock = new ManualClock();
    const retries: OuterRetry[] = [];
    const errors: unknown[] = [lost, new RangeError('pause'), lost];
    const seen: number[] = [];
    const work = async (failures: number): Promise<string> => {
      seen.push(failures);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return 'done';
    };
    const pause = (error: unknown) => (error instanceof RangeError ? 5_000 : undefined);
    expect(await clock.settle(executeWithRetries(work, { clock, pause, onRetry: (retry) => retries.push(retry) }))).toBe('done');
    expect(clock.waitsMs).toEqual([1_000, 5_000, 2_000]);
    expect(seen).toEqual([0, 1, 1, 2]);
    expect(retries.map(({ failures, isPause }) => [failures, isPause])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ]);
  });

  it.each([
    ['a bug', new TypeError('bug')],
    ['a bad body', new ValidationError({ direction: 'response', issues: [] })],
    ['a fault that time does not heal, such as a ring of redirects', new ConnectionError({ message: 'x', isRetryable: false })],
    ["the caller's own time limit", new TimeoutError({ message: 'x', phase: 'total' })],
  ])('raises %s at once', async (_name, error) => {
    let rounds = 0;
    const given: unknown[] = [];
    const work = async (): Promise<never> => {
      rounds += 1;
      throw error;
    };
    const onGiveUp = (...told: unknown[]): void => void given.push(told);
    await expect(executeWithRetries(work, { clock: new ManualClock(), onGiveUp })).rejects.toBe(error);
    expect(rounds).toBe(1);
    expect(given).toEqual([[error, 0]]);
  });

  it('ends its wait when the signal is aborted', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const onRetry = (): void => setImmediate(() => controller.abort()) as unknown as undefined;
    await expect(executeWithRetries(() => Promise.reject(lost), { clock, signal: controller.signal, onRetry })).rejects.toBeInstanceOf(
      AbortedError,
    );
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
