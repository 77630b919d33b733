import { type Clock, onAbort } from '@tinkex/http';
import { AbortedError, TimeoutError } from '@tinkex/types';

/** Options of {@link withTimeLimit}. */
export interface TimeLimitOptions {
  /** What takes so long, for the error. */
  readonly what: string;
  /** Undefined for no limit. */
  readonly timeoutMs?: number | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for work of the user, no longer than the limit and not after an abort. The work itself cannot be ended; what becomes of it is ignored.
 *
 * @throws TimeoutError, AbortedError, or what the work throws.
 */
export async function withTimeLimit<T>(
  work: () => T | PromiseLike<T>,
  { what, timeoutMs, clock, signal }: TimeLimitOptions,
): Promise<Awaited<T>> {
  if (signal?.aborted) throw new AbortedError({ cause: signal.reason });
  const cleanups: (() => void)[] = [];
  const limit = new Promise<never>((_, reject) => {
    if (timeoutMs !== undefined) {
      const timer = clock.setTimeout(() => {
        const message = `${what} took longer than ${timeoutMs / 1_000} s.`;
        reject(new TimeoutError({ message, phase: 'total', timeoutMs, isRetryable: false }));
      }, timeoutMs);
      cleanups.push(() => clock.clearTimeout(timer));
    }
    if (signal !== undefined) cleanups.push(onAbort(signal, () => reject(new AbortedError({ cause: signal.reason }))));
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}
