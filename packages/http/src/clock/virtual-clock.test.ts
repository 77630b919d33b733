import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.js';

describe('VirtualClock', () => {
  it('fires timers in the order of their time, then of their creation, with the time they were due', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const fired: [string, number][] = [];
    const note = (name: string) => (): void => {
      fired.push([name, clock.elapsedMs]);
    };
    clock.setTimeout(note('late'), 20);
    clock.setTimeout(note('first'), 10);
    clock.setTimeout(note('second'), 10);
    clock.setTimeout(note('never'), 21);
    await clock.advance(20);
    expect(fired).toEqual([
      ['first', 10],
      ['second', 10],
      ['late', 20],
    ]);
    expect([clock.elapsedMs, clock.pending, clock.nextInMs]).toEqual([20, 1, 1]);
  });

  it('fires timers that are armed on the way', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.elapsedMs);
      if (fired.length < 3) clock.setTimeout(again, 5);
    };
    clock.setTimeout(again, 5);
    await clock.advance(100);
    expect(fired).toEqual([5, 10, 15]);
  });

  it('forgets cleared timers and counts negative delays as none', async () => {
    const clock = new VirtualClock();
    let fired = 0;
    const handle = clock.setTimeout(() => {
      fired += 1;
    }, 1);
    clock.clearTimeout(handle);
    clock.setTimeout(() => {
      fired += 10;
    }, -5);
    await clock.advance(1);
    expect(fired).toBe(10);
    expect(await clock.advanceToNext()).toBe(false);
  });

  it('runs until a promise settles, and gives its outcome', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const elapsed = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        clock.setTimeout(resolve, ms);
      });
    expect(
      await clock.runUntil(
        elapsed(1_000)
          .then(() => elapsed(500))
          .then(() => 'done'),
      ),
    ).toBe('done');
    expect(clock.elapsedMs).toBe(1_500);
    await expect(clock.runUntil(elapsed(10).then(() => Promise.reject(new Error('no'))))).rejects.toThrow('no');
    const forever = (): void => {
      clock.setTimeout(forever, 1_000);
    };
    forever();
    await expect(clock.runUntil(new Promise(() => undefined), 5_000)).rejects.toThrow(/not settled after 5000 ms/);
  });

  it('resolves waitForTimers when code has gone to sleep', async () => {
    const clock = new VirtualClock();
    const asleep = clock.waitForTimers(2);
    clock.setTimeout(() => undefined, 1);
    clock.setTimeout(() => undefined, 1);
    await asleep;
    await clock.waitForTimers(1);
    expect(clock.pending).toBe(2);
  });

  it('never goes backwards', async () => {
    await expect(new VirtualClock().advance(-1)).rejects.toThrow(RangeError);
  });
});
