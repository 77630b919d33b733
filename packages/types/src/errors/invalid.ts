import { ValidationError } from './validation-error.js';

/** A `ValidationError` about one place of a value the caller gave. */
export function invalidRequest(subject: string, path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject, issues: [{ path, message }] });
}

/** A `ValidationError` about one place of something the server sent. */
export function invalidResponse(subject: string, path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'response', subject, issues: [{ path, message }] });
}
