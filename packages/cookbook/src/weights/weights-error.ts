import { ValidationError } from '@tinkex/types';

/** An adapter or a model on disk that cannot be used as it is. */
export function weightsError(subject: string, message: string, cause?: unknown): ValidationError {
  return new ValidationError({
    direction: 'request',
    subject,
    issues: [{ path: subject, message }],
    message: `${subject}: ${message}`,
    cause,
  });
}
