import { emitWarning } from '@tinkex/http/runtime';

/** Counts the errors of one consumer and reports the first, or all of them with `onError`. */
export class ErrorCounter {
  readonly #consumer: string;
  readonly #onError: ((error: unknown) => void) | undefined;
  count = 0;

  constructor(consumer: string, onError?: (error: unknown) => void) {
    this.#consumer = consumer;
    this.#onError = onError;
  }

  /**
   * Without `onError` only the first error becomes a process warning (code `TINKEX_TELEMETRY`): a broken sink that fails a thousand times
   * a second must not flood the output of the application. Never throws.
   */
  record(error: unknown): void {
    this.count += 1;
    try {
      if (this.#onError !== undefined) this.#onError(error);
      else if (this.count === 1) this.#warn(error);
    } catch {
      // The error handler itself failed: counting is all that is left.
      this.count += 1;
    }
  }

  #warn(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error;
    emitWarning(`${this.#consumer} failed (${name}). The application is not affected; further failures are only counted.`, {
      type: 'TinkexTelemetryWarning',
      code: 'TINKEX_TELEMETRY',
    });
  }
}
