import { ApiStatusError, isUserError, RequestFailedError } from '@tinkex/types';
import type { Report, ReportSeverity } from './telemetry-event.js';

const MAX_CAUSES = 64;

/** Mistakes of the caller become a `user_error`, everything else an `UNHANDLED_EXCEPTION`. */
export function exceptionReport(error: unknown, severity: ReportSeverity = 'ERROR'): Report {
  if (isUserError(error)) return userErrorReport(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    kind: 'UNHANDLED_EXCEPTION',
    severity,
    errorType: errorType(error),
    errorMessage: errorMessage(error),
    traceback: stack === '' ? undefined : stack,
  };
}

/** The name of an error's class, or the type of any other value. */
export function errorType(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** The message of an error, or any other thrown value as text. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  // String() runs code of the object, which may throw.
  return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error);
}

/** The status of the first status error among an error and its causes. */
export function errorStatus(error: unknown): number | undefined {
  return findCause(error, ApiStatusError.isInstance)?.status;
}

function userErrorReport(error: unknown): Report {
  const status = findCause(error, ApiStatusError.isInstance);
  const culprit = status ?? findCause(error, RequestFailedError.isInstance) ?? error;
  const message = errorMessage(culprit);
  const body = status?.body;
  return {
    kind: 'GENERIC_EVENT',
    name: 'user_error',
    severity: 'WARNING',
    data: {
      error_type: errorType(culprit),
      message: message === '' ? undefined : message,
      status_code: status?.status,
      body: isEmpty(body) ? undefined : body,
    },
  };
}

function findCause<Found extends Error>(error: unknown, isWanted: (value: unknown) => value is Found): Found | undefined {
  let current = error;
  // A chain of causes may be circular.
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if (isWanted(current)) return current;
    current = current.cause;
  }
  return undefined;
}

function isEmpty(body: unknown): boolean {
  if (body === undefined || body === null || body === '') return true;
  return typeof body === 'object' && Object.keys(body).length === 0;
}
