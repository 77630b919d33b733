import { backoff, type Clock, type Random, type RetryStrategy, retry, sleep } from '@tinkex/http';
import { ApiStatusError, TimeoutError, ValidationError } from '@tinkex/types';
import type { TelemetryRequest } from '@tinkex/types/wire';

/** Sends one batch. Must reject when the batch was not delivered; the signal is aborted when its result is no longer needed. */
export type SendBatch = (batch: TelemetryRequest, signal: AbortSignal) => Promise<unknown>;

/** How a batch is sent, how often, and how long each attempt may take. */
export interface DeliveryOptions {
  readonly send: SendBatch;
  readonly clock: Clock;
  readonly random: Random;
  readonly maxAttempts: number;
  readonly attemptTimeoutMs: number;
}

/** `sent`; `dropped`: this batch is lost; `refused`: the service accepts no reports at all. */
export type DeliveryOutcome = 'sent' | 'dropped' | 'refused';

/** The service does not know the client or the endpoint: the next batch would fail as well. */
const REFUSAL_STATUSES: ReadonlySet<number | undefined> = new Set([401, 403, 404, 405, 501]);

/** Repeats everything but refusals, after 1, 2, 4 … 30 s, less up to a quarter at random. */
export function reportStrategy({ maxAttempts, random }: Pick<DeliveryOptions, 'maxAttempts' | 'random'>): RetryStrategy {
  const delayMs = backoff({ baseMs: 1_000, maxMs: 30_000, jitter: 0.25, random });
  return ({ error, status, failures }) => {
    if (failures + 1 >= maxAttempts || REFUSAL_STATUSES.has(status)) return undefined;
    if (ApiStatusError.isInstance(error) && !error.isRetryable) return undefined;
    // The service answered with a success that the client does not understand. The batch has arrived: sending it again would double it.
    return ValidationError.isInstance(error) ? undefined : delayMs(failures);
  };
}

/** Delivers batches, one at a time, with a bounded number of attempts. The reference client retries forever; this one gives up. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #strategy: RetryStrategy;
  readonly #hurry = new AbortController();
  #isAborted = false;
  #endAttempt: (() => void) | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#strategy = reportStrategy(options);
  }

  /** Ends the current delay: the batch gets one last attempt, now. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Ends the current attempt. No other follows. */
  abort(): void {
    this.#isAborted = true;
    this.#hurry.abort();
    this.#endAttempt?.();
  }

  /** Never rejects. */
  async deliver(batch: TelemetryRequest): Promise<DeliveryOutcome> {
    const { clock } = this.#options;
    let isLastAttempt = false;
    const attempt = (): Promise<unknown> => {
      isLastAttempt = this.#hurry.signal.aborted;
      return this.#attempt(batch);
    };
    try {
      await retry(attempt, {
        clock,
        strategies: [(failure) => (isLastAttempt || this.#isAborted ? undefined : this.#strategy(failure))],
        // A sleep that is cut short rejects; the last attempt follows.
        wait: (delayMs) => sleep(clock, delayMs, this.#hurry.signal, { isBackground: true }).catch(() => undefined),
      });
      return 'sent';
    } catch (error) {
      return ApiStatusError.isInstance(error) && REFUSAL_STATUSES.has(error.status) ? 'refused' : 'dropped';
    }
  }

  /** Settles within the time limit even if `send` never does. */
  async #attempt(batch: TelemetryRequest): Promise<unknown> {
    const { send, clock, attemptTimeoutMs } = this.#options;
    const controller = new AbortController();
    const limit = new Promise<never>((_resolve, reject) => {
      this.#endAttempt = () => {
        controller.abort();
        reject(new TimeoutError({ message: 'The telemetry batch was not sent in time.', phase: 'total' }));
      };
    });
    const timer = clock.setTimeout(() => this.#endAttempt?.(), attemptTimeoutMs);
    try {
      return await Promise.race([send(batch, controller.signal), limit]);
    } finally {
      clock.clearTimeout(timer);
      this.#endAttempt = undefined;
    }
  }
}
