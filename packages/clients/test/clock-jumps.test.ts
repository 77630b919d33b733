import { VirtualClock } from '@tinkex/http/testing';
import { describe, expect, it } from 'vitest';
import { StallGuard } from '../src/downloads/stall-guard.js';
import { BillingPause } from '../src/limits/billing-pause.js';
import { TenantRateLimiter } from '../src/limits/rate-limiter.js';

const HOUR_MS = 3_600_000;

describe.each([-HOUR_MS, HOUR_MS])('when the wall clock is set by %d ms', (jumpMs) => {
  it('a backoff ends when it would have ended', async () => {
    const clock = new VirtualClock();
    const limiter = new TenantRateLimiter('test', clock);
    limiter.block(1_000);
    clock.jumpWall(jumpMs);
    const wait = limiter.wait();
    expect(limiter.isBlocked).toBe(true);
    await clock.runUntil(wait, 5_000);
    expect(clock.elapsedMs).toBe(1_000);
  });

  it('a stalled transfer is noticed, and one that moves is not', async () => {
    const clock = new VirtualClock();
    const guard = new StallGuard(clock, 2_000);
    await clock.advance(1_500);
    guard.noteMove();
    clock.jumpWall(jumpMs);
    await clock.advance(1_999);
    expect(guard.isStalled).toBe(false);
    await clock.advance(1);
    expect(guard.isStalled).toBe(true);
    guard.close();
  });

  it('an unpaid account is waited for as long as the server says', async () => {
    const clock = new VirtualClock();
    const pause = new BillingPause(clock, 10_000);
    expect(pause.judge(402).isPaused).toBe(true);
    clock.jumpWall(jumpMs);
    await clock.advance(10_000);
    expect(pause.judge(402).isPaused).toBe(true);
    await clock.advance(1);
    expect(pause.judge(402).isPaused).toBe(false);
  });
});
