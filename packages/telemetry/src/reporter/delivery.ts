import { type Clock, type Random, sleep } from '@tinkex/http';
import { ApiStatusError, TimeoutError, ValidationError } from '@tinkex/types';
import type { TelemetryRequest } from '@tinkex/types/wire';

/** Sends one batch. Must reject when it was not delivered; the signal is aborted when nobody waits any more. */
export type SendBatch = (batch: TelemetryRequest, signal: AbortSignal) => Promise<unknown>;

/** How long and how often a batch is tried. */
export interface DeliveryOptions {
  readonly send: SendBatch;
  readonly clock: Clock;
  readonly random: Random;
  /** Tries of one batch. */
  readonly maxTries: number;
  readonly sendTimeoutMs: number;
}

/** `sent`; `dropped`: this batch is lost; `refused`: the service wants no reports at all. */
export type DeliveryOutcome = 'sent' | 'dropped' | 'refused';

const firstPauseMs = 1_000;
const maxPauseMs = 30_000;
/** The service does not know us or does not know the endpoint: the next batch would fare no better. */
const refusals = new Set([401, 403, 404, 405, 501]);

/** Delivers batches with a bounded number of tries. The reference client tries for ever; this one gives up. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #abort = new AbortController();
  readonly #hurry = new AbortController();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** No more pauses: whatever is being tried gets one last try, now. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Ends everything that is under way. */
  abort(): void {
    this.#hurry.abort();
    this.#abort.abort();
  }

  /** Never rejects. */
  async deliver(batch: TelemetryRequest): Promise<DeliveryOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      const wasHurried = this.#hurry.signal.aborted;
      const outcome = await this.#try(batch);
      if (outcome !== 'failed') return outcome;
      if (attempt >= this.#options.maxTries || wasHurried || this.#abort.signal.aborted) return 'dropped';
      await this.#pause(attempt);
    }
  }

  async #try(batch: TelemetryRequest): Promise<DeliveryOutcome | 'failed'> {
    try {
      await this.#send(batch);
      return 'sent';
    } catch (error) {
      // Answered with a success that we do not understand: it has arrived, sending it again would only double it.
      if (ValidationError.isInstance(error)) return 'dropped';
      if (!ApiStatusError.isInstance(error)) return 'failed';
      if (refusals.has(error.status)) return 'refused';
      return error.isRetryable ? 'failed' : 'dropped';
    }
  }

  /** Settles within the time limit even if `send` never does. */
  #send(batch: TelemetryRequest): Promise<void> {
    const { send, clock, sendTimeoutMs } = this.#options;
    const outer = this.#abort.signal;
    const controller = new AbortController();
    return new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        controller.abort();
        finish(() => reject(new TimeoutError({ message: 'The telemetry batch was not sent in time.', phase: 'total' })));
      };
      const timer = clock.setTimeout(giveUp, sendTimeoutMs);
      const finish = (settle: () => void): void => {
        clock.clearTimeout(timer);
        outer.removeEventListener('abort', giveUp);
        settle();
      };
      if (outer.aborted) {
        giveUp();
        return;
      }
      outer.addEventListener('abort', giveUp);
      // Wrapped so that a `send` that throws at once is a rejection too.
      new Promise((settle) => settle(send(batch, controller.signal))).then(
        () => finish(resolve),
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }

  async #pause(attempt: number): Promise<void> {
    const { clock, random } = this.#options;
    const fullMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1));
    try {
      await sleep(clock, fullMs * (0.75 + 0.25 * random()), this.#hurry.signal, { isBackground: true });
    } catch {
      // Hurried: go on at once, `deliver` sees it.
      return;
    }
  }
}
