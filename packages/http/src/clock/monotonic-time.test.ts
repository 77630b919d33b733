import { expect, it, vi } from 'vitest';
import { systemClock } from './clock.js';
import { betweenMs, elapsedMs, NEVER, remainingMs, timeAfter } from './monotonic-time.js';
import { VirtualClock } from './virtual-clock.js';

it('durations do not notice a wall clock that is set, or a machine that sleeps', async () => {
  const clock = new VirtualClock();
  const startedAt = clock.monotonicMs();
  const deadline = timeAfter(clock, 1_000);
  const startedWallMs = clock.wallMs();
  clock.jumpWall(-3_600_000);
  await clock.advance(400);
  clock.suspend(7_200_000);
  expect([elapsedMs(clock, startedAt), remainingMs(clock, deadline)]).toEqual([400, 600]);
  expect(clock.wallMs() - startedWallMs).toBe(400 + 3_600_000);
  await clock.advance(601);
  expect(remainingMs(clock, deadline)).toBe(-1);
  expect(remainingMs(clock, NEVER)).toBe(Number.POSITIVE_INFINITY);
  expect(betweenMs(deadline, startedAt)).toBe(-1_000);
});

it('the system clock measures on, whatever the date', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 5_000_000 });
  try {
    const startedAt = systemClock.monotonicMs();
    vi.setSystemTime(0);
    expect(systemClock.wallMs()).toBe(0);
    expect(elapsedMs(systemClock, startedAt)).toBeGreaterThanOrEqual(0);
    expect(systemClock.monotonicMs() < timeAfter(systemClock, 1_000)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it('mixing the two scales does not compile', () => {
  const clock = new VirtualClock();
  const moment = clock.monotonicMs();
  // @ts-expect-error: a date minus a moment is not a duration.
  clock.wallMs() - moment;
  // @ts-expect-error: two moments are subtracted with betweenMs.
  moment - clock.monotonicMs();
  // @ts-expect-error: a date does not say whether a moment has passed.
  clock.wallMs() >= moment;
  // @ts-expect-error: nor does the time since a date.
  elapsedMs(clock, clock.wallMs());
  expect(moment <= clock.monotonicMs()).toBe(true);
});
