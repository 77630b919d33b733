import { hasKind, markKind } from '../identity/kind.js';
import { ApiStatusError, type ApiStatusErrorOptions } from './api-status-error.js';

/** Status 400: the request is wrong; sending it again will not help. */
export class BadRequestError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_BAD_REQUEST' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is BadRequestError {
    return hasKind(value, 'BadRequestError');
  }
}

markKind(BadRequestError, 'BadRequestError');

/** Status 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_AUTHENTICATION' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is AuthenticationError {
    return hasKind(value, 'AuthenticationError');
  }
}

markKind(AuthenticationError, 'AuthenticationError');

/** Status 402: the account cannot pay for the call. */
export class BillingError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_BILLING' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is BillingError {
    return hasKind(value, 'BillingError');
  }
}

markKind(BillingError, 'BillingError');

/** Status 403: the credential may not do this. */
export class PermissionDeniedError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_PERMISSION_DENIED' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is PermissionDeniedError {
    return hasKind(value, 'PermissionDeniedError');
  }
}

markKind(PermissionDeniedError, 'PermissionDeniedError');

/** Status 404: there is no such thing, or no such endpoint on this server. */
export class NotFoundError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_NOT_FOUND' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is NotFoundError {
    return hasKind(value, 'NotFoundError');
  }
}

markKind(NotFoundError, 'NotFoundError');

/** Status 409: the call contradicts the state of the server. */
export class ConflictError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_CONFLICT' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is ConflictError {
    return hasKind(value, 'ConflictError');
  }
}

markKind(ConflictError, 'ConflictError');

/** Status 422: the body does not fit what the server expects. */
export class UnprocessableEntityError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_UNPROCESSABLE_ENTITY' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is UnprocessableEntityError {
    return hasKind(value, 'UnprocessableEntityError');
  }
}

markKind(UnprocessableEntityError, 'UnprocessableEntityError');

/** Status 5xx: the server failed. */
export class ServerError extends ApiStatusError {
  constructor(options: ApiStatusErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_SERVER' });
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is ServerError {
    return hasKind(value, 'ServerError');
  }
}

markKind(ServerError, 'ServerError');

/** How a {@link RateLimitError} is built. */
export interface RateLimitErrorOptions extends ApiStatusErrorOptions {
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** Status 429: too many requests. */
export class RateLimitError extends ApiStatusError {
  /** How long the server asks to wait, in milliseconds; unset when it names no time. */
  declare readonly retryAfterMs?: number | undefined;

  constructor(options: RateLimitErrorOptions) {
    super({ ...options, code: options.code ?? 'TINKEX_RATE_LIMIT' });
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }

  /** True for this class, from any copy of this package. */
  static override isInstance(value: unknown): value is RateLimitError {
    return hasKind(value, 'RateLimitError');
  }
}

markKind(RateLimitError, 'RateLimitError');
