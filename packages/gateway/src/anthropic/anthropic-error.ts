import type { FailureKind, GatewayFailure } from '../failure.js';

const TYPES: Readonly<Record<FailureKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'not_found_error',
  too_large: 'request_too_large',
  context_length: 'invalid_request_error',
  rate_limit: 'rate_limit_error',
  billing: 'billing_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  server: 'api_error',
};

/** A failure as Anthropic writes it. */
export function anthropicError({ kind, message }: GatewayFailure) {
  return { type: 'error', error: { type: TYPES[kind], message } };
}

/** Anthropic's own status of an overloaded server. */
const OVERLOADED = 529;

/** The status that Anthropic gives a failure. */
export function anthropicStatus({ kind, status }: GatewayFailure): number {
  return kind === 'overloaded' ? OVERLOADED : status;
}
