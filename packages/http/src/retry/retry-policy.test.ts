import { ConnectionError, TimeoutError } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRetry } from './retry-policy.js';

const header = fc.oneof(
  fc.string(),
  fc.double().map(String),
  fc.integer().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
);

describe('decideRetry', () => {
  it('waits more than nothing and a minute at most, whatever the server says', () => {
    fc.assert(
      fc.property(
        fc.nat(50),
        header,
        header,
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        fc.nat(),
        (attempt, ms, after, random, nowMs) => {
          const outcome = { status: 503, headers: { 'retry-after-ms': ms, 'retry-after': after } };
          const decision = decideRetry(attempt, outcome, 100, () => random, nowMs);
          expect(decision.retry).toBe(true);
          if (!decision.retry) return;
          expect(decision.delayMs).toBeGreaterThan(0);
          expect(decision.delayMs).toBeLessThanOrEqual(60_000);
        },
      ),
    );
  });

  it('makes exactly maxRetries more attempts', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), (attempt, maxRetries) => {
        const decision = decideRetry(attempt, { error: new ConnectionError({ message: 'x' }) }, maxRetries, () => 0, 0);
        expect(decision.retry).toBe(attempt < maxRetries);
      }),
    );
  });

  it("does not go on after the caller's limit for the whole call", () => {
    const error = new TimeoutError({ message: 'x', phase: 'total' });
    expect(decideRetry(0, { error }, 10, () => 0, 0)).toEqual({ retry: false });
  });
});
