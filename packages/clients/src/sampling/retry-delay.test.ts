import { readFileSync } from 'node:fs';
import { ConnectionError, FutureExpiredError, RequestFailedError, TimeoutError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { isSamplingRetryable, retryDelayMs } from './retry-delay.js';

interface DelayCase {
  readonly name: string;
  readonly input: { readonly layer: string; readonly failures_so_far: number };
  readonly expected: { readonly min_seconds: number; readonly nominal_seconds: number; readonly max_seconds: number };
}

const { cases } = JSON.parse(readFileSync(new URL('../../test/vectors/retry-delays.json', import.meta.url), 'utf8')) as {
  cases: DelayCase[];
};
const handlerCases = cases.filter(({ input }) => input.layer === 'retry_handler');
const defaults = { baseDelayMs: 500, maxDelayMs: 10_000, jitter: 0.25 };

describe('retryDelayMs', () => {
  it('finds the cases of the retry handler', () => {
    expect(handlerCases).toHaveLength(8);
  });

  it.each(handlerCases)('$name', ({ input, expected }) => {
    expect(retryDelayMs(input.failures_so_far, defaults, () => 0)).toBeCloseTo(expected.min_seconds * 1000, 6);
    expect(retryDelayMs(input.failures_so_far, defaults, () => 0.5)).toBeCloseTo(expected.nominal_seconds * 1000, 6);
    expect(retryDelayMs(input.failures_so_far, defaults, () => 1)).toBeCloseTo(expected.max_seconds * 1000, 6);
  });
});

describe('isSamplingRetryable', () => {
  it.each([408, 409, 429, 500, 503, 599])('sends again after status %i', (status) => {
    expect(isSamplingRetryable(apiStatusError({ status, headers: {}, body: '' }))).toBe(true);
  });

  it.each([400, 401, 402, 403, 404, 410, 422])('gives up after status %i', (status) => {
    expect(isSamplingRetryable(apiStatusError({ status, headers: {}, body: '' }))).toBe(false);
  });

  it('sends again after faults of the network and lost promises, not after failed work', () => {
    expect(isSamplingRetryable(new ConnectionError({ message: 'reset' }))).toBe(true);
    expect(isSamplingRetryable(new TimeoutError({ message: 'slow', phase: 'headers' }))).toBe(true);
    expect(isSamplingRetryable(new FutureExpiredError({ message: 'gone' }))).toBe(true);
    expect(isSamplingRetryable(new RequestFailedError({ message: 'failed', category: 'server' }))).toBe(false);
    expect(isSamplingRetryable(new Error('a bug'))).toBe(false);
  });
});
