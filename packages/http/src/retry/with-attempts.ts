import { TinkexError } from '@tinkex/types';

/** Notes on an error how many requests were made before it was given to the caller. */
export function withAttempts(error: unknown, attempts: number): unknown {
  if (TinkexError.isInstance(error) && error.attempts !== attempts) {
    Object.defineProperty(error, 'attempts', { value: attempts, enumerable: true, configurable: true });
  }
  return error;
}
