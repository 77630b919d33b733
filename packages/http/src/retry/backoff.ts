import type { Random } from '../clock/clock.js';

/** Options of `backoff`. */
export interface BackoffOptions {
  /** Delay after the first failure, milliseconds. */
  readonly baseMs: number;
  /** Longest delay, milliseconds. */
  readonly maxMs: number;
  /** Share of the delay that is random, 0 to 1. Default 0. */
  readonly jitter?: number | undefined;
  /** Where the random share lies: `'below'` (default) takes up to `jitter` off, `'around'` moves the delay by up to `jitter` either way. */
  readonly spread?: 'below' | 'around' | undefined;
  /** Default `Math.random`. */
  readonly random?: Random | undefined;
}

/**
 * Exponential backoff: `baseMs` doubled with each failure, never above `maxMs`.
 *
 * @returns A function of the failures before this one, from 0, that returns the delay in milliseconds. Pure but for `random`.
 *
 * @example
 * ```ts
 * import { backoff } from '@tinkex/http';
 * const delayMs = backoff({ baseMs: 500, maxMs: 10_000 });
 * console.log([0, 1, 2, 8].map(delayMs)); // [500, 1000, 2000, 10000]
 * ```
 */
export function backoff({
  baseMs,
  maxMs,
  jitter = 0,
  spread = 'below',
  random = Math.random,
}: BackoffOptions): (failures: number) => number {
  const share = spread === 'below' ? () => 1 - jitter * random() : () => 1 + jitter * (2 * random() - 1);
  return (failures) => {
    const nominalMs = Math.min(baseMs * 2 ** failures, maxMs);
    return jitter === 0 ? nominalMs : Math.min(nominalMs * share(), maxMs);
  };
}
