/** Counts the errors of one consumer and tells about the first. */
export interface ErrorReport {
  readonly count: number;
  record(error: unknown): void;
}

/**
 * The default report is one process warning (code `TINKEX_TELEMETRY`): a broken sink that fails a thousand times a second must not
 * drown what the application prints. With `onError` every error is handed over instead.
 */
export function errorReport(consumer: string, onError?: (error: unknown) => void): ErrorReport {
  let count = 0;
  return {
    get count() {
      return count;
    },
    record(error) {
      count += 1;
      try {
        if (onError !== undefined) onError(error);
        else if (count === 1) warn(consumer, error);
      } catch {
        // The error handler itself is broken: the count is all that can still be told.
        count += 1;
      }
    },
  };
}

function warn(consumer: string, error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error;
  process.emitWarning(`${consumer} failed (${name}); the application is not affected, further failures are only counted`, {
    type: 'TinkexTelemetryWarning',
    code: 'TINKEX_TELEMETRY',
  });
}
