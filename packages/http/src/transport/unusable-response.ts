import { ValidationError } from '@tinkex/types';

/** The error of a response that arrived complete and cannot be used. */
export function unusableResponse(message: string): ValidationError {
  return new ValidationError({ message, direction: 'response', issues: [{ path: '', message }] });
}

/** The error of a response that is larger than the caller allows. A retry would not make it smaller, so it is not retried. */
export function oversizedBody(maxBytes: number): ValidationError {
  return unusableResponse(`The response is larger than the limit of ${maxBytes} bytes. Raise maxResponseBytes, or read it with stream().`);
}
