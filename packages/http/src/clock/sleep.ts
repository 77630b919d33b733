import { AbortedError } from '@tinkex/types';
import type { Clock } from './clock.js';

/** Options of `sleep`. */
export interface SleepOptions {
  /**
   * True for work that nobody awaits, such as a monitor's loop: the wait then does not keep the process alive. Default false:
   * a program that awaits a call must not end while the call waits for its next attempt.
   */
  readonly isBackground?: boolean;
}

/**
 * Waits on an injected clock.
 *
 * @param delayMs - Milliseconds; zero or less still yields once to the clock.
 * @param signal - Ends the wait at once.
 * @throws AbortedError, with the signal's reason as its cause. The timer and the listener are gone by then.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal, options: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortedBy(signal));
      return;
    }
    const onAbort = (): void => {
      clock.clearTimeout(timer);
      reject(abortedBy(signal));
    };
    const timer = clock.setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.max(0, delayMs),
    );
    if (!options.isBackground) keepAlive(timer);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The error of a call whose signal was aborted. */
export function abortedBy(signal: AbortSignal | undefined, message = 'The call was aborted.'): AbortedError {
  return new AbortedError({ message, cause: signal?.reason });
}

/**
 * Lets a timer of a clock keep the process alive, for a wait that somebody awaits. Clocks hand out timers that do not; the machine's own can be
 * told otherwise, and a virtual one has no process to keep.
 */
export function keepAlive(timer: unknown): void {
  (timer as { ref?: () => unknown } | null | undefined)?.ref?.();
}
