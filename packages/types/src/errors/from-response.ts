import { ApiStatusError, type ApiStatusErrorOptions } from './api-status-error.js';
import { redactSecrets } from './redaction.js';
import { retryAfterMs } from './retry-after.js';
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

const SHOWN_DETAIL = 500;

/**
 * Makes the error of the class that belongs to a status. `x-should-retry: true | false` decides {@link ApiStatusError.isRetryable}. Headers may be
 * spelt in any letter case.
 */
export function apiStatusError({ nowMs, ...response }: FailedResponse): ApiStatusError {
  const { status } = response;
  const headers = withLowerCaseNames(response.headers ?? {});
  const asked = headers['x-should-retry'];
  const isRetryable = asked === 'true' ? true : asked === 'false' ? false : undefined;
  const options = { ...response, message: messageOf(response), isRetryable };
  if (status === 429) return new RateLimitError({ ...options, retryAfterMs: retryAfterMs(headers, nowMs ?? Date.now()) });
  const ErrorClass = CLASS_OF_STATUS[status] ?? (status >= 500 ? ServerError : ApiStatusError);
  return new ErrorClass(options);
}

function withLowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function messageOf({ method, path, status, body }: FailedResponse): string {
  const call = path === undefined ? 'The request' : `${method === undefined ? '' : `${method} `}${path}`;
  const detail = detailOf(body);
  return `${call} failed with status ${status}${detail === '' ? '' : `: ${redactSecrets(detail)}`}`;
}

function detailOf(body: unknown): string {
  if (typeof body === 'string') return body.slice(0, SHOWN_DETAIL);
  if (typeof body !== 'object' || body === null) return '';
  for (const key of ['detail', 'message', 'error_message', 'error'] as const) {
    const value = (body as Record<string, unknown>)[key];
    if (typeof value === 'string') return value.slice(0, SHOWN_DETAIL);
    if (typeof value === 'object' && value !== null) return detailOf(value) || shortJson(value);
  }
  return '';
}

function shortJson(value: object): string {
  try {
    return JSON.stringify(value).slice(0, SHOWN_DETAIL);
  } catch {
    return 'a body that cannot be shown';
  }
}
