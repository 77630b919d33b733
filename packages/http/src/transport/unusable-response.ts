import { ValidationError } from '@tinkex/types';

/** The error of a response that came whole and still cannot be used. */
export function unusableResponse(message: string, cause?: unknown): ValidationError {
  return new ValidationError({
    message,
    direction: 'response',
    issues: [{ path: '', message }],
    ...(cause === undefined ? {} : { cause }),
  });
}
