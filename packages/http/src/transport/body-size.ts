import type { ValidationError } from '@tinkex/types';
import { unusableResponse } from './unusable-response.js';

/** The error of a response that is larger than the caller allows. Asking again would not make it smaller, so it is not retried. */
export function oversizedBody(maxBytes: number): ValidationError {
  return unusableResponse(`The response is larger than the limit of ${maxBytes} bytes. Raise maxResponseBytes, or read it with stream().`);
}
