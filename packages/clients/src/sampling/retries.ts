import { type Clock, type Random, sleep } from '@tinkex/http';
import { AbortedError, ConfigurationError, ConnectionError } from '@tinkex/types';
import { rejectUnknown } from '../runtime/reject-unknown-options.js';
import { AttemptCount } from './attempt-count.js';
import { ProgressWatch } from './progress-watch.js';
import { isSamplingRetryable, type RetryDelayOptions, retryDelayMs } from './retry-delay.js';

/** Options of the opt-in retry of sampling calls. Defaults are those of the reference client. */
export interface RetryOptions extends Partial<RetryDelayOptions> {
  /**
   * Submissions in all, the first one included, whatever they are answered with: a 429 counts too. Default: no limit; the progress
   * timeout ends a hopeless call.
   */
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

const OPTION_NAMES: Readonly<Record<keyof RetryOptions, true>> = {
  maxAttempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  jitter: true,
  progressTimeoutMs: true,
  detectStuck: true,
  seqIdAfterLoss: true,
};

/** Fills in the defaults. Throws `ConfigurationError` for unknown names, and for numbers that make no sense: they would turn retries off, or never end them. */
export function resolveRetryOptions(options: RetryOptions, isStuckDetectionAllowed: boolean): ResolvedRetryOptions {
  rejectUnknown(options, OPTION_NAMES, 'retry.');
  const resolved = {
    baseDelayMs: options.baseDelayMs ?? 500,
    maxDelayMs: options.maxDelayMs ?? 10_000,
    jitter: options.jitter ?? 0.25,
    maxAttempts: options.maxAttempts ?? Number.POSITIVE_INFINITY,
    progressTimeoutMs: options.progressTimeoutMs ?? 7_200_000,
    detectStuck: (options.detectStuck ?? true) && isStuckDetectionAllowed,
    seqIdAfterLoss: options.seqIdAfterLoss ?? 'same',
  };
  const { baseDelayMs, maxDelayMs, jitter, maxAttempts, progressTimeoutMs } = resolved;
  requireThat('baseDelayMs', baseDelayMs >= 0, 'at least 0');
  requireThat('maxDelayMs', maxDelayMs >= 0, 'at least 0');
  requireThat('jitter', jitter >= 0 && jitter <= 1, 'from 0 to 1');
  requireThat('maxAttempts', maxAttempts >= 1, 'at least 1');
  requireThat('progressTimeoutMs', progressTimeoutMs > 0, 'above 0');
  return resolved;
}

function requireThat(name: keyof RetryOptions, isMet: boolean, rule: string): void {
  if (!isMet) throw new ConfigurationError({ message: `Option retry.${name} must be ${rule}.`, option: `retry.${name}` });
}

/** One round of a call; see {@link RetryHandler.run}. */
export type Attempt<T> = (signal: AbortSignal, failed: (error: unknown) => void) => Promise<T>;

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
   * Calls `attempt` until it succeeds. `attempt` gets a signal that fires when the caller aborts or the handler gives up, and a function to
   * tell of failures that it repeats by itself: they count as well, and the function throws the one that was the last.
   * `onFailure` sees each failure, and whether another attempt follows; not what the caller or the handler itself ended. What is thrown in the end carries the number of attempts.
   */
  async run<T>(attempt: Attempt<T>, signal?: AbortSignal, onFailure?: (error: unknown, isRetried: boolean) => void): Promise<T> {
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
    const count = new AttemptCount(this.options.maxAttempts);
    try {
      for (;;) {
        try {
          const value = await attempt(controller.signal, count.failed);
          this.#watch?.noteProgress();
          return value;
        } catch (error) {
          failures += 1;
          const mayFollow = count.add();
          if (controller.signal.aborted) throw error;
          const isRetried = mayFollow && isSamplingRetryable(error);
          onFailure?.(error, isRetried);
          if (!isRetried) throw error;
        }
        await sleep(this.#clock, retryDelayMs(failures, this.options, this.#random), controller.signal);
      }
    } catch (error) {
      throw count.noteOn(stuck && AbortedError.isInstance(error) ? stuck : error);
    } finally {
      leave?.();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** For calls that the server wants no retries of: repeated is only what `attempt` repeats by itself, within the limit on attempts. */
  async runOnce<T>(attempt: (failed: (error: unknown) => void) => Promise<T>): Promise<T> {
    const count = new AttemptCount(this.options.maxAttempts);
    try {
      return await attempt(count.failed);
    } catch (error) {
      count.add();
      throw count.noteOn(error);
    }
  }

  #stuckError(): ConnectionError {
    const seconds = Math.round(this.options.progressTimeoutMs / 1000);
    return new ConnectionError({
      message: `No sampling call of this client has succeeded for ${seconds} s; giving up. Raise retry.progressTimeoutMs if the server is that slow.`,
    });
  }
}
