import {
  backoff,
  type Clock,
  elapsedMs,
  type MonotonicTime,
  onAbort,
  type Random,
  type RetryStrategy,
  retry,
  withAttempts,
} from '@tinkex/http';
import { AbortedError, ApiStatusError, ConfigurationError, ConnectionError, FutureExpiredError } from '@tinkex/types';
import { isRetryableStatus } from '@tinkex/types/wire';
import { rejectUnknownOptions } from '../runtime/reject-unknown-options.js';

/** Options of the opt-in retry of sampling calls. The defaults are those of the reference client. */
export interface RetryOptions {
  /** Delay after the first failure, milliseconds. Doubles with each failure. Default 500. */
  readonly baseDelayMs?: number | undefined;
  /** Longest delay, milliseconds. Default 10,000. */
  readonly maxDelayMs?: number | undefined;
  /** Share of the delay that is random, in either direction, 0 to 1. Default 0.25. */
  readonly jitter?: number | undefined;
  /**
   * Submissions of one call, including the first and regardless of how they fail: a 429 counts too. Default: no limit; the progress
   * timeout ends a hopeless call.
   */
  readonly maxAttempts?: number | undefined;
  /** A call fails with `ConnectionError` when no call of the client has succeeded for this long. Default 7,200,000 (2 h). */
  readonly progressTimeoutMs?: number | undefined;
  /** Whether to watch for lack of progress. Default true; a server may turn it off. */
  readonly detectStuck?: boolean | undefined;
  /**
   * Which sequence ID a call sends after the server lost its result (410). `'same'` (default) sends the same one first, which an idempotent
   * server answers with the same operation, and takes a new one only when that result is lost as well. `'new'` takes a new one each time,
   * as the reference client does.
   */
  readonly seqIdAfterLoss?: 'same' | 'new' | undefined;
}

/** {@link RetryOptions} with all defaults filled in. */
export type ResolvedRetryOptions = { readonly [Name in keyof RetryOptions]-?: NonNullable<RetryOptions[Name]> };

const OPTION_NAMES: Readonly<Record<keyof RetryOptions, true>> = {
  maxAttempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  jitter: true,
  progressTimeoutMs: true,
  detectStuck: true,
  seqIdAfterLoss: true,
};

/** Fills in the defaults. Throws `ConfigurationError` for unknown names, and for numbers that would disable retries or never end them. */
export function resolveRetryOptions(options: RetryOptions, isStuckDetectionAllowed: boolean): ResolvedRetryOptions {
  rejectUnknownOptions(options, OPTION_NAMES, 'retry.');
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

/** The strategy of sampling calls: repeats connection faults, lost results and retryable statuses after a doubling, jittered delay. */
export function samplingStrategy(
  { baseDelayMs, maxDelayMs, jitter }: Pick<ResolvedRetryOptions, 'baseDelayMs' | 'maxDelayMs' | 'jitter'>,
  random: Random,
): RetryStrategy {
  const delayMs = backoff({ baseMs: baseDelayMs, maxMs: maxDelayMs, jitter, spread: 'around', random });
  return ({ error, failures }) => (isSamplingRetryable(error) ? delayMs(failures) : undefined);
}

function isSamplingRetryable(error: unknown): boolean {
  if (ConnectionError.isInstance(error) || FutureExpiredError.isInstance(error)) return true;
  return ApiStatusError.isInstance(error) && isRetryableStatus(error.status);
}

/** Counts the submissions of one call up to its limit. */
export class SubmissionCount {
  readonly #max: number;
  count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a failed submission, never beyond the limit: the error that {@link addOrThrow} throws passes by a second time on its way out. */
  add(): boolean {
    this.count = Math.min(this.count + 1, this.#max);
    return this.count < this.#max;
  }

  /** Counts a failed submission and throws its error if no other may follow. */
  addOrThrow(error: unknown): void {
    if (!this.add()) throw error;
  }
}

/** Repeats sampling calls until they succeed, fail for good, are aborted, or make no progress for too long. One per sampling client. */
export class SamplingRetries {
  readonly options: ResolvedRetryOptions;
  readonly #clock: Clock;
  readonly #strategy: RetryStrategy;
  readonly #watch: ProgressWatch | undefined;

  constructor(options: ResolvedRetryOptions, clock: Clock, random: Random) {
    this.options = options;
    this.#clock = clock;
    this.#strategy = samplingStrategy(options, random);
    this.#watch = options.detectStuck ? new ProgressWatch(clock, options.progressTimeoutMs) : undefined;
  }

  /**
   * Calls `attempt` until it succeeds. The signal that `attempt` receives fires when the caller aborts or the call makes no progress. The
   * count includes submissions that `attempt` repeats itself. `onFailure` receives each failure, except what the caller or the progress
   * timeout ended. The final error carries the number of attempts.
   */
  async run<T>(
    attempt: (signal: AbortSignal, submissions: SubmissionCount) => Promise<T>,
    signal?: AbortSignal,
    onFailure?: (error: unknown, isRetried: boolean) => void,
  ): Promise<T> {
    const controller = new AbortController();
    if (signal?.aborted) controller.abort(signal.reason);
    const unfollow = signal && onAbort(signal, () => controller.abort(signal.reason));
    let stuck: ConnectionError | undefined;
    const leave = this.#watch?.enter(() => {
      stuck = this.#stuckError();
      controller.abort(stuck);
    });
    const submissions = new SubmissionCount(this.options.maxAttempts);
    try {
      const value = await retry(() => attempt(controller.signal, submissions), {
        strategies: [(failure) => (submissions.add() ? this.#strategy(failure) : undefined)],
        clock: this.#clock,
        signal: controller.signal,
        onRetry: ({ error }) => onFailure?.(error, true),
        onGiveUp: ({ error }) => onFailure?.(error, false),
      });
      this.#watch?.noteProgress();
      return value;
    } catch (error) {
      throw withAttempts(stuck && AbortedError.isInstance(error) ? stuck : error, submissions.count);
    } finally {
      leave?.();
      unfollow?.();
    }
  }

  /** For calls that the server wants no retries of: repeats only what `attempt` repeats itself, within the limit on attempts. */
  async runOnce<T>(attempt: (submissions: SubmissionCount) => Promise<T>): Promise<T> {
    const submissions = new SubmissionCount(this.options.maxAttempts);
    try {
      return await attempt(submissions);
    } catch (error) {
      submissions.add();
      throw withAttempts(error, submissions.count);
    }
  }

  #stuckError(): ConnectionError {
    const seconds = Math.round(this.options.progressTimeoutMs / 1000);
    return new ConnectionError({
      message: `No sampling call of this client has succeeded for ${seconds} s; giving up. Raise retry.progressTimeoutMs if the server is that slow.`,
    });
  }
}

/**
 * Notices that no call succeeds any more. The time without progress restarts at every success, and when a call enters while no other is
 * inside. When it reaches the limit, every call inside is notified. One timer serves all calls.
 */
class ProgressWatch {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #inside = new Set<() => void>();
  #lastProgress: MonotonicTime;
  #timer: unknown;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#lastProgress = clock.monotonicMs();
  }

  /** Starts watching a call; `onStuck` is called at most once. Returns the function that ends the watch. */
  enter(onStuck: () => void): () => void {
    if (this.#inside.size === 0) this.noteProgress();
    // A new function for each call, so that two calls with one callback stay two members.
    const member = (): void => onStuck();
    this.#inside.add(member);
    this.#arm();
    return () => {
      this.#inside.delete(member);
      if (this.#inside.size > 0 || this.#timer === undefined) return;
      this.#clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Records that a call has succeeded. */
  noteProgress(): void {
    this.#lastProgress = this.#clock.monotonicMs();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const leftMs = this.#timeoutMs - elapsedMs(this.#clock, this.#lastProgress);
    this.#timer = this.#clock.setTimeout(() => this.#check(), Math.max(1, leftMs));
  }

  #check(): void {
    this.#timer = undefined;
    if (elapsedMs(this.#clock, this.#lastProgress) < this.#timeoutMs) {
      this.#arm();
      return;
    }
    const stuck = [...this.#inside];
    this.#inside.clear();
    for (const notify of stuck) notify();
  }
}
