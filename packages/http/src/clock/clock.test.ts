import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from './clock.js';

afterEach(() => {
  vi.useRealTimers();
});

it.each([2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])('does not fire immediately when the delay is %d ms', (delayMs) => {
  vi.useFakeTimers();
  const callback = vi.fn();
  const handle = systemClock.setTimeout(callback, delayMs);
  vi.advanceTimersByTime(1_000_000);
  expect(callback).not.toHaveBeenCalled();
  systemClock.clearTimeout(handle);
});
