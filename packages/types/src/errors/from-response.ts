import { redactText } from '../redaction/redact-text.js';
import { ApiStatusError, type ApiStatusErrorOptions } from './api-status-error.js';
import { failureMessage } from './failure-message.js';
import { isRetryableResponse, retryAfterMs } from './retry-advice.js';
import {
  AuthenticationError,
  BadRequestError,
  BillingError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  UnprocessableEntityError,
} from './status-errors.js';

/** What is known about a response that is not a success. */
export interface FailedResponse extends Omit<ApiStatusErrorOptions, 'message' | 'code' | 'isRetryable'> {
  /** The current time in Unix milliseconds, for a `Retry-After` date. Default: the system's. */
  readonly nowMs?: number | undefined;
}

const CLASS_OF_STATUS: Readonly<Record<number, new (options: ApiStatusErrorOptions) => ApiStatusError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: BillingError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
};

const MAX_DETAIL_LENGTH = 500;

/**
 * Makes the error of the class that belongs to a status. `x-should-retry: true | false` decides {@link ApiStatusError.isRetryable}. Headers may be
 * spelt in any letter case.
 */
export function apiStatusError({ nowMs, ...response }: FailedResponse): ApiStatusError {
  const { status } = response;
  const headers = withLowerCaseNames(response.headers ?? {});
  const options = { ...response, message: messageOf(response), isRetryable: isRetryableResponse(status, headers) };
  if (status === 429) return new RateLimitError({ ...options, retryAfterMs: retryAfterMs(headers, nowMs ?? Date.now()) });
  const ErrorClass = CLASS_OF_STATUS[status] ?? (status >= 500 ? ServerError : ApiStatusError);
  return new ErrorClass(options);
}

function withLowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function messageOf({ method, path, status, body }: FailedResponse): string {
  const call = path === undefined ? 'The request' : `${method === undefined ? '' : `${method} `}${path}`;
  const detail = failureMessage(body);
  return `${call} failed with status ${status}${detail === undefined ? '' : `: ${redactText(detail, MAX_DETAIL_LENGTH)}`}`;
}
