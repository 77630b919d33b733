import {
  AbortedError,
  ApiStatusError,
  ConfigurationError,
  ConnectionError,
  RateLimitError,
  RequestFailedError,
  TimeoutError,
  TinkexError,
  ValidationError,
} from '@tinkex/types';

/** What went wrong, in terms both APIs have a word for. */
export type FailureKind =
  | 'invalid_request'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'too_large'
  | 'context_length'
  | 'rate_limit'
  | 'billing'
  | 'overloaded'
  | 'timeout'
  | 'server';

const STATUSES: Readonly<Record<FailureKind, number>> = {
  invalid_request: 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  not_found: 404,
  too_large: 413,
  context_length: 400,
  rate_limit: 429,
  server: 500,
  overloaded: 503,
  timeout: 504,
};

/** More about a {@link GatewayFailure}. */
export interface FailureDetails {
  /** The field of the request that is wrong. */
  readonly param?: string | undefined;
  /** When to try again. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Why a request is not answered. Each API writes it in its own shape. */
export class GatewayFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, { param, retryAfterMs, cause }: FailureDetails = {}) {
    super(message, { cause });
    this.name = 'GatewayFailure';
    this.kind = kind;
    this.status = STATUSES[kind];
    this.param = param;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Any error as a failure. Messages of unknown errors stay inside: they may name files or hosts. */
export function toFailure(error: unknown): GatewayFailure {
  if (error instanceof GatewayFailure) return error;
  if (!TinkexError.isInstance(error)) return new GatewayFailure('server', 'The gateway failed to answer this request.', { cause: error });
  const { message } = error;
  const details = { cause: error };
  if (ValidationError.isInstance(error)) return new GatewayFailure('invalid_request', message, { ...details, param: fieldOf(error) });
  if (ConfigurationError.isInstance(error)) return new GatewayFailure('invalid_request', message, { ...details, param: error.option });
  if (RateLimitError.isInstance(error)) {
    return new GatewayFailure('rate_limit', message, { ...details, retryAfterMs: error.retryAfterMs });
  }
  if (ApiStatusError.isInstance(error)) return new GatewayFailure(kindOfStatus(error.status), message, details);
  if (RequestFailedError.isInstance(error)) {
    return new GatewayFailure(error.category === 'user' ? 'invalid_request' : 'server', message, details);
  }
  if (TimeoutError.isInstance(error)) return new GatewayFailure('timeout', message, details);
  if (ConnectionError.isInstance(error) || AbortedError.isInstance(error)) return new GatewayFailure('overloaded', message, details);
  return new GatewayFailure('server', message, details);
}

/** The sampler's own credential is the gateway's business: a caller cannot mend it. */
function kindOfStatus(status: number): FailureKind {
  if (status === 402) return 'billing';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 413) return 'too_large';
  if (status === 400 || status === 422) return 'invalid_request';
  return status === 503 ? 'overloaded' : 'server';
}

/** The path of the first issue, without the word for the whole request. */
function fieldOf({ issues }: ValidationError): string | undefined {
  return issues[0]?.path.replace(/^request\.?/, '') || undefined;
}
