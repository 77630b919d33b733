import { abortedBy, onAbort } from '../abort/on-abort.js';
import type { Clock } from './clock.js';

/** Options of `sleep`. */
export interface SleepOptions {
  /**
   * True for background work, such as a monitor's loop: the wait does not keep the process alive. Default false: a program
   * that awaits a call must not end while the call waits for its next attempt.
   */
  readonly isBackground?: boolean | undefined;
}

/**
 * Waits on an injected clock.
 *
 * @param delayMs - Milliseconds; zero or less still yields once to the clock.
 * @param signal - Ends the wait immediately.
 * @throws AbortedError, with the signal's reason as its cause. The timer and the listener are gone by then.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal, options: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortedBy(signal));
      return;
    }
    const timer = clock.setTimeout(
      () => {
        unfollow?.();
        resolve();
      },
      Math.max(0, delayMs),
    );
    if (!options.isBackground) keepAlive(timer);
    const unfollow =
      signal &&
      onAbort(signal, () => {
        clock.clearTimeout(timer);
        reject(abortedBy(signal));
      });
  });
}

/** Lets a timer of a clock keep the process alive, which timers of a `Clock` do not by default. Timers of other clocks than the system's are ignored. */
export function keepAlive(timer: unknown): void {
  (timer as { ref?: () => unknown } | null | undefined)?.ref?.();
}
