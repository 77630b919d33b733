import { type Clock, type Random, sleep } from '@tinkex/http';
import { AbortedError, ConnectionError } from '@tinkex/types';
import { ProgressWatch } from './progress-watch.js';
import { isSamplingRetryable, type RetryDelayOptions, retryDelayMs } from './retry-delay.js';

/** Options of the opt-in retry of sampling calls. Defaults are those of the reference client. */
export interface RetryOptions extends Partial<RetryDelayOptions> {
  /** Attempts in all, the first one included. Default: no limit; the progress timeout ends a hopeless call. */
  readonly maxAttempts?: number;
  /** A call fails with `ConnectionError` when no call of the client has succeeded for this long. Default 7,200,000 (2 h). */
  readonly progressTimeoutMs?: number;
  /** Whether to watch for lack of progress. Default true; a server may turn it off. */
  readonly detectStuck?: boolean;
  /**
   * What a call sends after the server lost its promise (410). `'same'` (default) sends the same `seq_id` first, which an
   * idempotent server answers with the same work, and takes a new one only when that promise is lost as well. `'new'` takes a new
   * number each time, as the reference client does.
   */
  readonly seqIdAfterLoss?: 'same' | 'new';
}

/** {@link RetryOptions} with every default filled in. */
export type ResolvedRetryOptions = Required<RetryOptions>;

/** Fills in the defaults. */
export function resolveRetryOptions(options: RetryOptions, isStuckDetectionAllowed: boolean): ResolvedRetryOptions {
  return {
    baseDelayMs: options.baseDelayMs ?? 500,
    maxDelayMs: options.maxDelayMs ?? 10_000,
    jitter: options.jitter ?? 0.25,
    maxAttempts: options.maxAttempts ?? Number.POSITIVE_INFINITY,
    progressTimeoutMs: options.progressTimeoutMs ?? 7_200_000,
    detectStuck: (options.detectStuck ?? true) && isStuckDetectionAllowed,
    seqIdAfterLoss: options.seqIdAfterLoss ?? 'same',
  };
}

/** Runs sampling calls until they succeed, fail for good, are aborted, or nothing has moved for too long. One per sampling client. */
export class RetryHandler {
  readonly options: ResolvedRetryOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #watch: ProgressWatch | undefined;

  constructor(options: ResolvedRetryOptions, clock: Clock, random: Random) {
    this.options = options;
    this.#clock = clock;
    this.#random = random;
    this.#watch = options.detectStuck ? new ProgressWatch(clock, options.progressTimeoutMs) : undefined;
  }

  /**
   * Calls `attempt` until it succeeds. `attempt` gets a signal that fires when the caller aborts or the handler gives up;
   * `onFailure` sees each failure that will be retried.
   */
  async run<T>(attempt: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal, onFailure?: (error: unknown) => void): Promise<T> {
    const controller = new AbortController();
    let stuck: ConnectionError | undefined;
    const onAbort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    const leave = this.#watch?.enter(() => {
      stuck = this.#stuckError();
      controller.abort(stuck);
    });
    let failures = 0;
    try {
      for (;;) {
        try {
          const value = await attempt(controller.signal);
          this.#watch?.noteProgress();
          return value;
        } catch (error) {
          failures += 1;
          if (controller.signal.aborted || failures >= this.options.maxAttempts || !isSamplingRetryable(error)) throw error;
          onFailure?.(error);
        }
        await sleep(this.#clock, retryDelayMs(failures, this.options, this.#random), controller.signal);
      }
    } catch (error) {
      throw stuck && AbortedError.isInstance(error) ? stuck : error;
    } finally {
      leave?.();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #stuckError(): ConnectionError {
    const seconds = Math.round(this.options.progressTimeoutMs / 1000);
    return new ConnectionError({
      message: `No sampling call of this client has succeeded for ${seconds} s; giving up. Raise retry.progressTimeoutMs if the server is that slow.`,
    });
  }
}
