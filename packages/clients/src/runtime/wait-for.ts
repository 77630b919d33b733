import { type Clock, onAbort } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';
import type { WaitOptions } from './call-options.js';

/** What a wait is for, as its errors describe it. */
export interface WaitTarget {
  /** Such as `the result of OptimStep`. */
  readonly what: string;
  /** A sentence about what ending the wait means for the work, such as `The operation continues on the server.` */
  readonly consequence?: string | undefined;
  /** Why it takes so long: the last attempt that failed. */
  readonly trouble?: (() => Trouble | undefined) | undefined;
}

/** An attempt that failed and will be repeated. */
export interface Trouble {
  readonly text: string;
  readonly cause?: unknown;
}

/** Waits for a promise with a limit on this wait alone. Ending the wait does not affect the promise. */
export function waitFor<T>(promise: Promise<T>, clock: Clock, { signal, timeoutMs }: WaitOptions, target: WaitTarget): Promise<T> {
  if (signal === undefined && timeoutMs === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    let timer: unknown;
    let unfollow: (() => void) | undefined;
    const release = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      unfollow?.();
    };
    const stop = (): void => {
      release();
      reject(new AbortedError({ message: withConsequence(`Stopped waiting for ${target.what}.`, target), cause: signal?.reason }));
    };
    if (signal?.aborted) {
      // Nothing handles the promise now; its failure must not end the process.
      promise.catch(() => undefined);
      stop();
      return;
    }
    if (signal !== undefined) unfollow = onAbort(signal, stop);
    if (timeoutMs !== undefined) {
      timer = clock.setTimeout(() => {
        release();
        reject(waitTimedOut(timeoutMs, target));
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

function waitTimedOut(timeoutMs: number, target: WaitTarget): TimeoutError {
  const trouble = target.trouble?.();
  const why = trouble === undefined ? '' : ` (the last attempt failed: ${trouble.text})`;
  const message = withConsequence(`Waited ${timeoutMs} ms for ${target.what}${why}.`, target);
  return new TimeoutError({ message, phase: 'wait', timeoutMs, cause: trouble?.cause });
}

function withConsequence(message: string, { consequence }: WaitTarget): string {
  return consequence === undefined ? message : `${message} ${consequence}`;
}
