import { getEventListeners } from 'node:events';
import { type Clock, systemClock, timeAfter } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TenantRateLimiter } from './rate-limiter.js';
import { rateLimiterFor } from './rate-limiter-registry.js';

function limiterAt(clock: Clock = new VirtualClock()): { clock: VirtualClock; limiter: TenantRateLimiter } {
  return { clock: clock as VirtualClock, limiter: new TenantRateLimiter('test', clock) };
}

describe('TenantRateLimiter', () => {
  it('keeps the later of two ends', () => {
    const { limiter } = limiterAt();
    limiter.block(5_000);
    limiter.block(1_000);
    expect(limiter.inspect().blockedForMs).toBe(5_000);
    limiter.block(9_000);
    expect(limiter.inspect().blockedForMs).toBe(9_000);
  });

  it('is not cleared by a success of a call that started before the 429', async () => {
    const { clock, limiter } = limiterAt();
    const startedAt = clock.monotonicMs();
    await clock.advance(10);
    limiter.block(500);
    limiter.clearAfterSuccess(startedAt);
    limiter.clearAfterSuccess(clock.monotonicMs());
    expect(limiter.isBlocked).toBe(true);
    await clock.advance(500);
    expect(limiter.isBlocked).toBe(false);
    limiter.clearAfterSuccess(clock.monotonicMs());
    expect(limiter.hasBackoff).toBe(false);
  });

  it('releases all waiters with one timer when the end comes, and not before', async () => {
    const { clock, limiter } = limiterAt();
    limiter.block(200);
    let released = 0;
    const waits = Array.from({ length: 1_000 }, () => limiter.wait().then(() => (released += 1)));
    expect(clock.pending).toBe(1);
    await clock.advance(199);
    expect(released).toBe(0);
    expect(limiter.inspect()).toMatchObject({ isBlocked: true, waiting: 1_000 });
    await clock.advance(1);
    await Promise.all(waits);
    expect(limiter.inspect()).toMatchObject({ isBlocked: false, waiting: 0, isThrottled: true });
    expect(clock.pending).toBe(0);
  });

  it('holds waiters longer when the backoff grows meanwhile', async () => {
    const { clock, limiter } = limiterAt();
    limiter.block(100);
    let isReleased = false;
    const wait = limiter.wait().then(() => {
      isReleased = true;
    });
    limiter.block(300);
    await clock.advance(299);
    expect(isReleased).toBe(false);
    await clock.advance(1);
    await wait;
  });

  it('stays throttled for ten seconds after the end, even when it is cleared', async () => {
    const { clock, limiter } = limiterAt();
    limiter.block(1_000);
    await clock.advance(1_001);
    limiter.clearAfterSuccess(clock.monotonicMs());
    expect(limiter.isThrottled).toBe(true);
    await clock.advance(9_999);
    expect(limiter.isThrottled).toBe(false);
  });

  it('lets an aborted waiter go and leaves neither listener nor timer', async () => {
    const { clock, limiter } = limiterAt();
    const controller = new AbortController();
    limiter.block(1_000);
    const wait = limiter.wait(controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    await expect(wait).rejects.toBeInstanceOf(AbortedError);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(clock.pending).toBe(0);
    await expect(limiter.wait(controller.signal)).rejects.toBeInstanceOf(AbortedError);
  });

  it('never ends earlier than the longest block, whatever the order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(100), fc.nat(1_000)), { minLength: 1, maxLength: 20 }), async (steps) => {
        const { clock, limiter } = limiterAt();
        let latest = 0;
        for (const [waitMs, delayMs] of steps) {
          await clock.advance(waitMs);
          limiter.block(delayMs);
          latest = Math.max(latest, clock.elapsedMs + delayMs);
          limiter.clearAfterSuccess(timeAfter(clock, -waitMs));
          expect(limiter.inspect().blockedForMs).toBe(latest - clock.elapsedMs);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('rateLimiterFor', () => {
  it('gives one object to one server and key, whatever the spelling of the URL', () => {
    const first = rateLimiterFor('https://Example.org:443/api/', 'tml-a');
    expect(rateLimiterFor('https://example.org/api', 'tml-a')).toBe(first);
    expect(rateLimiterFor('HTTPS://EXAMPLE.ORG/api/', 'tml-a')).toBe(first);
  });

  it('keeps keys, servers and clocks apart', () => {
    const first = rateLimiterFor('https://example.org/api', 'tml-a');
    expect(rateLimiterFor('https://example.org/api', 'tml-b')).not.toBe(first);
    expect(rateLimiterFor('https://example.org/api', undefined)).not.toBe(first);
    expect(rateLimiterFor('https://example.org/other', 'tml-a')).not.toBe(first);
    expect(rateLimiterFor('https://example.org/api', 'tml-a', { ...systemClock })).not.toBe(first);
  });

  it('shows the key nowhere', () => {
    const limiter = rateLimiterFor('https://example.org/secret', 'tml-very-secret');
    expect(JSON.stringify([limiter.id, limiter.inspect(), limiter])).not.toContain('very-secret');
  });
});
