import type { Clock } from './clock.js';

declare const scale: unique symbol;

/**
 * A moment on the monotonic scale of a clock. Compare two with `<` and `>`; every other use goes through the functions of this module. It is
 * a number of milliseconds when the program runs, but not for the compiler: subtracting it from a date, or comparing it with one, is an error.
 */
export interface MonotonicTime {
  readonly [scale]: 'monotonic';
}

/** Later than every moment: the deadline of work without a limit. */
export const NEVER: MonotonicTime = monotonicTime(Number.POSITIVE_INFINITY);

/** A moment from a number of milliseconds since any fixed start, for implementations of `Clock`. */
export function monotonicTime(ms: number): MonotonicTime {
  return ms as unknown as MonotonicTime;
}

/** Milliseconds from one moment to another; negative when `to` is earlier. */
export function betweenMs(from: MonotonicTime, to: MonotonicTime): number {
  return (to as unknown as number) - (from as unknown as number);
}

/** Milliseconds since a moment. */
export function elapsedMs(clock: Clock, since: MonotonicTime): number {
  return betweenMs(since, clock.monotonicMs());
}

/** Milliseconds until a moment; negative when it has passed, `Infinity` for `NEVER`. */
export function remainingMs(clock: Clock, until: MonotonicTime): number {
  return betweenMs(clock.monotonicMs(), until);
}

/** The moment that is `delayMs` away from now. An earlier one with a negative delay. */
export function timeAfter(clock: Clock, delayMs: number): MonotonicTime {
  return monotonicTime((clock.monotonicMs() as unknown as number) + delayMs);
}
