import { systemClock } from '@tinkex/http/clock';
import { afterEach, expect, it, vi } from 'vitest';
import { pause } from './server-clock.js';

afterEach(() => {
  vi.useRealTimers();
});

it.each([2 ** 31, Number.POSITIVE_INFINITY])('does not end a pause of %d ms immediately', async (delayMs) => {
  vi.useFakeTimers();
  const onEnd = vi.fn();
  void pause(systemClock, delayMs).then(onEnd);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(onEnd).not.toHaveBeenCalled();
});
