import type { FailureKind, GatewayFailure } from '../failure.js';

const TYPES: Readonly<Partial<Record<FailureKind, string>>> = {
  rate_limit: 'rate_limit_error',
  billing: 'insufficient_quota',
  server: 'server_error',
  overloaded: 'server_error',
  timeout: 'server_error',
};

const CODES: Readonly<Partial<Record<FailureKind, string>>> = {
  authentication: 'invalid_api_key',
  not_found: 'model_not_found',
  context_length: 'context_length_exceeded',
  rate_limit: 'rate_limit_exceeded',
  billing: 'insufficient_quota',
};

/** A failure as OpenAI writes it. */
export function openAiError({ kind, message, param }: GatewayFailure) {
  return { error: { message, type: TYPES[kind] ?? 'invalid_request_error', param: param ?? null, code: CODES[kind] ?? null } };
}
