import { ApiStatusError } from './api-status-error.js';
import { RequestFailedError } from './future-errors.js';

const MAX_CAUSES = 64;

/**
 * Whether an error is the caller's fault: it, or an error in its chain of causes, is a failed operation of category `user`, or
 * has a status 400–499 other than 408.
 */
export function isUserError(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (RequestFailedError.isInstance(current) && current.category === 'user') return true;
    if (ApiStatusError.isInstance(current) && current.status >= 400 && current.status < 500 && current.status !== 408) return true;
    if (!(current instanceof Error)) return false;
    current = current.cause;
  }
  return false;
}
