import type { Clock } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { WaitOptions } from './call-options.js';
import { onAbort } from './on-abort.js';

/** Why it takes so long: the last attempt that failed. */
export interface Trouble {
  readonly text: string;
  readonly cause?: unknown;
}

/** Waits for a promise with a limit of its own. Ending the wait changes nothing about the promise; timer and listener are removed. */
export function waitFor<T>(
  promise: Promise<T>,
  clock: Clock,
  { signal, timeoutMs }: WaitOptions,
  what: string,
  trouble?: () => Trouble | undefined,
): Promise<T> {
  if (signal === undefined && timeoutMs === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    let timer: unknown;
    let unfollow: (() => void) | undefined;
    const stop = (): void => {
      release();
      reject(new AbortedError({ message: `Stopped waiting for ${what}; the work itself goes on`, cause: signal?.reason }));
    };
    const release = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      unfollow?.();
    };
    if (signal?.aborted) {
      // Nobody looks at the promise now; its failure must not end the process.
      promise.catch(() => undefined);
      stop();
      return;
    }
    if (signal !== undefined) unfollow = onAbort(signal, stop);
    if (timeoutMs !== undefined) {
      timer = clock.setTimeout(() => {
        release();
        const known = trouble?.();
        const why = known === undefined ? '' : ` (the last attempt failed: ${known.text})`;
        const message = `Waited ${timeoutMs} ms for ${what}${why}; the work itself goes on, wait again to get its result`;
        reject(new TimeoutError({ message, phase: 'wait', timeoutMs, cause: known?.cause }));
      }, timeoutMs);
    }
    promise.then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}
