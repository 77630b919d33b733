import { AbortedError } from '@tinkex/types';
import type { Clock } from './clock.js';

/**
 * Waits on an injected clock.
 *
 * @param delayMs - Milliseconds; zero or less still yields once to the clock.
 * @param signal - Ends the wait at once.
 * @throws AbortedError, with the signal's reason as its cause. The timer and the listener are gone by then.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
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
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The error of a call whose signal was aborted. */
export function abortedBy(signal: AbortSignal | undefined, message = 'The call was aborted.'): AbortedError {
  return new AbortedError({ message, cause: signal?.reason });
}
