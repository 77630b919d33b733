import { getEventListeners } from 'node:events';
import { AbortedError } from '@tinkex/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.js';
import { sleep } from './sleep.js';
import { VirtualClock } from './virtual-clock.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('sleep', () => {
  it('ends when its time has come, and leaves no listener', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const wait = sleep(clock, 1_000, signal);
    await clock.advance(999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    await wait;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('ends immediately with the reason of its signal, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const wait = sleep(clock, 1_000, controller.signal);
    controller.abort('why');
    await expect(wait).rejects.toMatchObject({ name: 'AbortError', cause: 'why' });
    await expect(sleep(clock, 1_000, controller.signal)).rejects.toBeInstanceOf(AbortedError);
    expect(clock.pending).toBe(0);
  });

  it('keeps the process alive, unless it is background work', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    for (const isBackground of [false, true]) {
      const controller = new AbortController();
      const wait = sleep(systemClock, 60_000, controller.signal, { isBackground });
      const timer = set.mock.results.at(-1)?.value as NodeJS.Timeout;
      expect(timer.hasRef()).toBe(!isBackground);
      controller.abort();
      await expect(wait).rejects.toBeInstanceOf(AbortedError);
    }
  });
});

describe('systemClock', () => {
  it('makes timers that keep no process alive', () => {
    const timer = systemClock.setTimeout(() => undefined, 60_000) as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    systemClock.clearTimeout(timer);
  });
});
