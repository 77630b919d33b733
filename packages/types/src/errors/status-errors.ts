import { checkKind } from '../kind.js';
import { redactText } from '../redaction/redact-text.js';
import { ApiStatusError, type ApiStatusErrorOptions } from './api-status-error.js';
import { failureMessage } from './failure-message.js';
import { isRetryableResponse, retryAfterMs } from './retry-advice.js';

/** Status 400: the request is invalid; sending it again does not help. */
export class BadRequestError extends ApiStatusError {
  static override readonly kind: string = 'BadRequestError';
  static override readonly code: string = 'TINKEX_BAD_REQUEST';
  static override readonly isInstance: (value: unknown) => value is BadRequestError = checkKind('BadRequestError');
}

/** Status 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends ApiStatusError {
  static override readonly kind: string = 'AuthenticationError';
  static override readonly code: string = 'TINKEX_AUTHENTICATION';
  static override readonly isInstance: (value: unknown) => value is AuthenticationError = checkKind('AuthenticationError');
}

/** Status 402: the account cannot pay for the call. */
export class BillingError extends ApiStatusError {
  static override readonly kind: string = 'BillingError';
  static override readonly code: string = 'TINKEX_BILLING';
  static override readonly isInstance: (value: unknown) => value is BillingError = checkKind('BillingError');
}

/** Status 403: the credential may not do this. */
export class PermissionDeniedError extends ApiStatusError {
  static override readonly kind: string = 'PermissionDeniedError';
  static override readonly code: string = 'TINKEX_PERMISSION_DENIED';
  static override readonly isInstance: (value: unknown) => value is PermissionDeniedError = checkKind('PermissionDeniedError');
}

/** Status 404 or 405: the object, or the endpoint, does not exist on this server. */
export class NotFoundError extends ApiStatusError {
  static override readonly kind: string = 'NotFoundError';
  static override readonly code: string = 'TINKEX_NOT_FOUND';
  static override readonly isInstance: (value: unknown) => value is NotFoundError = checkKind('NotFoundError');
}

/** Status 409: the call contradicts the state of the server. */
export class ConflictError extends ApiStatusError {
  static override readonly kind: string = 'ConflictError';
  static override readonly code: string = 'TINKEX_CONFLICT';
  static override readonly isInstance: (value: unknown) => value is ConflictError = checkKind('ConflictError');
}

/** Status 422: the body does not fit what the server expects. */
export class UnprocessableEntityError extends ApiStatusError {
  static override readonly kind: string = 'UnprocessableEntityError';
  static override readonly code: string = 'TINKEX_UNPROCESSABLE_ENTITY';
  static override readonly isInstance: (value: unknown) => value is UnprocessableEntityError = checkKind('UnprocessableEntityError');
}

/** Status 5xx: the server failed. */
export class ServerError extends ApiStatusError {
  static override readonly kind: string = 'ServerError';
  static override readonly code: string = 'TINKEX_SERVER';
  static override readonly isInstance: (value: unknown) => value is ServerError = checkKind('ServerError');
}

/** How a {@link RateLimitError} is built. */
export interface RateLimitErrorOptions extends ApiStatusErrorOptions {
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** Status 429: too many requests. */
export class RateLimitError extends ApiStatusError {
  static override readonly kind: string = 'RateLimitError';
  static override readonly code: string = 'TINKEX_RATE_LIMIT';
  static override readonly isInstance: (value: unknown) => value is RateLimitError = checkKind('RateLimitError');

  /** How long the server asks to wait, in milliseconds; unset when it names no time. */
  declare readonly retryAfterMs?: number | undefined;

  constructor(options: RateLimitErrorOptions) {
    super(options);
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

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
  405: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
};

const MAX_DETAIL_LENGTH = 500;

/**
 * Makes the error of the class that belongs to a status. `x-should-retry: true | false` decides {@link ApiStatusError.isRetryable}. The names of headers may have any
 * letter case.
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
