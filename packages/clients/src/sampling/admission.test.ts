import { VirtualClock } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { TenantRateLimiter } from '../limits/rate-limiter.js';
import { type DispatchLimitOptions, DispatchLimits } from './admission.js';

function limitsWith(options: DispatchLimitOptions = {}) {
  const clock = new VirtualClock();
  const limiter = new TenantRateLimiter('test', clock);
  return { clock, limiter, limits: new DispatchLimits(limiter, options) };
}

describe('DispatchLimits', () => {
  it('admits 400 at the same time by default, and the next when one leaves', async () => {
    const { limits } = limitsWith();
    const admissions = Array.from({ length: 400 }, () => limits.tryEnter(10));
    expect(admissions).not.toContain(undefined);
    expect(limits.tryEnter(10)).toBeUndefined();
    const next = limits.enter(10);
    const [first] = admissions;
    if (first) limits.leave(first);
    expect(await next).toMatchObject({ isThrottled: false, bytes: 10 });
  });

  it('lets only ten in after a backoff, and counts prompts twenty times', async () => {
    const { clock, limiter, limits } = limitsWith();
    limiter.block(1_000);
    await clock.advance(1_000);
    expect(limits.tryEnter(10)).toBeUndefined();
    const admissions = await Promise.all(Array.from({ length: 10 }, () => limits.enter(10)));
    expect(admissions[0]).toMatchObject({ isThrottled: true, bytes: 200 });
    let isIn = false;
    const eleventh = limits.enter(10).then((admission) => {
      isIn = true;
      return admission;
    });
    await clock.advance(1);
    expect(isIn).toBe(false);
    for (const admission of admissions) limits.leave(admission);
    limits.leave(await eleventh);
    await clock.advance(10_000);
    expect(limits.tryEnter(10)).toMatchObject({ isThrottled: false, bytes: 10 });
  });

  it('holds prompts back by their bytes, but lets an oversized one through alone', async () => {
    const { limits } = limitsWith({ maxPromptBytes: 100 });
    const big = limits.tryEnter(5_000);
    expect(big).toBeDefined();
    expect(limits.tryEnter(1)).toBeUndefined();
    const small = limits.enter(1);
    if (big) limits.leave(big);
    expect(await small).toMatchObject({ isThrottled: false, bytes: 1 });
  });

  it('gives everything back when a waiting call is aborted', async () => {
    const { clock, limiter, limits } = limitsWith({ maxPromptBytes: 100 });
    limiter.block(1);
    await clock.advance(1);
    const first = await limits.enter(100);
    const controller = new AbortController();
    const waiting = limits.enter(1, controller.signal);
    await clock.advance(1);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    limits.leave(first);
    expect([limits.submissions.used, limits.throttledSubmissions.used, limits.promptBytes.used]).toEqual([0, 0, 0]);
  });
});
