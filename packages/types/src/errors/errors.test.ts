import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import {
  AbortedError,
  ApiStatusError,
  ConfigurationError,
  ConnectionError,
  FutureExpiredError,
  RateLimitError,
  RequestFailedError,
  ServerError,
  TimeoutError,
  TinkexError,
  ValidationError,
} from '../index.js';
import { apiStatusError, redactSecrets, retryAfterMs } from '../wire.js';

describe('the error tree', () => {
  it.each([
    [400, 'BadRequestError', 'TINKEX_BAD_REQUEST', false],
    [401, 'AuthenticationError', 'TINKEX_AUTHENTICATION', false],
    [402, 'BillingError', 'TINKEX_BILLING', false],
    [403, 'PermissionDeniedError', 'TINKEX_PERMISSION_DENIED', false],
    [404, 'NotFoundError', 'TINKEX_NOT_FOUND', false],
    [408, 'ApiStatusError', 'TINKEX_API_STATUS', true],
    [409, 'ConflictError', 'TINKEX_CONFLICT', true],
    [410, 'ApiStatusError', 'TINKEX_API_STATUS', false],
    [422, 'UnprocessableEntityError', 'TINKEX_UNPROCESSABLE_ENTITY', false],
    [429, 'RateLimitError', 'TINKEX_RATE_LIMIT', true],
    [500, 'ServerError', 'TINKEX_SERVER', true],
    [503, 'ServerError', 'TINKEX_SERVER', true],
  ])('status %i is a %s', (status, name, code, isRetryable) => {
    const error = apiStatusError({ status, method: 'POST', path: '/api/v1/asample', body: { detail: 'no' }, attempts: 3, requestId: 'r' });
    expect(error).toMatchObject({ name, code, isRetryable, status, attempts: 3, requestId: 'r' });
    expect(error.message).toBe(`POST /api/v1/asample failed with status ${status}: no`);
    expect(ApiStatusError.isInstance(error)).toBe(true);
    expect(TinkexError.isInstance(error)).toBe(true);
    expect(ValidationError.isInstance(error)).toBe(false);
  });

  it('lets the server decide about retrying', () => {
    expect(apiStatusError({ status: 500, headers: { 'x-should-retry': 'false' } }).isRetryable).toBe(false);
    expect(apiStatusError({ status: 400, headers: { 'x-should-retry': 'true' } }).isRetryable).toBe(true);
  });

  it('reads headers in any letter case', () => {
    const error = apiStatusError({ status: 429, headers: { 'Retry-After': '3', 'X-Should-Retry': 'false' } });
    expect(error).toMatchObject({ isRetryable: false, retryAfterMs: 3000 });
  });

  it.each([
    [ConnectionError, 'TINKEX_CONNECTION', true],
    [TimeoutError, 'TINKEX_TIMEOUT', true],
    [ServerError, 'TINKEX_SERVER', true],
    [RateLimitError, 'TINKEX_RATE_LIMIT', true],
    [ApiStatusError, 'TINKEX_API_STATUS', true],
    [ConfigurationError, 'TINKEX_CONFIGURATION', false],
    [RequestFailedError, 'TINKEX_REQUEST_FAILED', false],
    [FutureExpiredError, 'TINKEX_FUTURE_EXPIRED', false],
    [ValidationError, 'TINKEX_VALIDATION', false],
    [AbortedError, 'TINKEX_ABORTED', false],
  ])('%o keeps its own judgement where an option is undefined', (ErrorClass, code, isRetryable) => {
    const given = { message: 'no', status: 503, phase: 'total', direction: 'response', issues: [] } as const;
    const undefinedOptions = { code: undefined, isRetryable: undefined, requestId: undefined, attempts: undefined };
    expect(new ErrorClass({ ...given, ...undefinedOptions })).toMatchObject({ message: 'no', code, isRetryable, attempts: 1 });
    expect(new ErrorClass({ ...given, code: 'OTHER', isRetryable: !isRetryable })).toMatchObject({
      code: 'OTHER',
      isRetryable: !isRetryable,
    });
  });

  it('has subclasses for time, abort, configuration and futures', () => {
    expect(ConnectionError.isInstance(new TimeoutError({ message: 'late', phase: 'headers', timeoutMs: 5 }))).toBe(true);
    expect(new AbortedError({ cause: 'reason' })).toMatchObject({ name: 'AbortError', code: 'TINKEX_ABORTED', cause: 'reason' });
    expect(new ConfigurationError({ message: 'no key', option: 'apiKey', environmentVariable: 'TINKER_API_KEY' })).toMatchObject({
      option: 'apiKey',
    });
    expect(new RequestFailedError({ message: 'oh' }).category).toBe('unknown');
    expect(new FutureExpiredError({ message: 'gone' })).toMatchObject({ name: 'FutureExpiredError', isRetryable: false });
  });

  it('recognises the errors of another copy of the package', async () => {
    vi.resetModules();
    const copy = await import('../index.js');
    const error = new copy.TimeoutError({ message: 'late', phase: 'total' });
    expect(error).not.toBeInstanceOf(TimeoutError);
    expect(TimeoutError.isInstance(error)).toBe(true);
    expect(ConnectionError.isInstance(error)).toBe(true);
    expect(RateLimitError.isInstance(error)).toBe(false);
    expect([error].filter(TimeoutError.isInstance)).toHaveLength(1);
  });

  it('accepts anything when asked whether it is an instance', () => {
    for (const value of [undefined, null, 5, 'x', {}, [], new Error('plain')]) expect(TinkexError.isInstance(value)).toBe(false);
  });
});

describe('what an error shows', () => {
  const secret = 'tml-0123456789abcdef';
  const error = apiStatusError({
    status: 403,
    method: 'GET',
    path: '/api/v1/audit',
    headers: { 'X-API-Key': secret, 'Set-Cookie': secret, 'Content-Type': 'application/json', Location: `https://files/x?sig=${secret}` },
    body: { detail: `key ${secret} may not read https://files/x?sig=abc`, token: secret },
  });

  it('is never a key, a signed URL, a header or a body', () => {
    for (const shown of [error.message, JSON.stringify(error), inspect(error, { depth: 9 }), String(error), inspect({ ...error })]) {
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain('sig=');
      expect(shown).not.toContain('application/json');
    }
  });

  it('keeps safe headers and the body reachable', () => {
    expect(error.headers).toEqual({
      'x-api-key': '[redacted]',
      'set-cookie': '[redacted]',
      'content-type': 'application/json',
      location: '[redacted]',
    });
    expect(error.body).toMatchObject({ token: secret });
    expect(Object.keys(error)).not.toContain('body');
  });

  it('is JSON with name, code and message', () => {
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PermissionDeniedError',
      message: 'GET /api/v1/audit failed with status 403: key tml-[redacted] may not read https://files/x?[redacted]',
      code: 'TINKEX_PERMISSION_DENIED',
      isRetryable: false,
      attempts: 1,
      status: 403,
      method: 'GET',
      path: '/api/v1/audit',
    });
  });

  it('has no tokens and no passwords of URLs', () => {
    expect(redactSecrets('a eyJhbGciOi.eyJzdWIi.c2ln b https://user:pass@host/p?x=1 c')).toBe('a [redacted] b https://host/p?[redacted] c');
  });
});

describe('retry-after', () => {
  const now = Date.parse('2026-07-13T00:00:00Z');
  it.each([
    [{ 'retry-after-ms': '200' }, 200],
    [{ 'retry-after-ms': '1.5', 'retry-after': '9' }, 1.5],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': '86400' }, 86_400_000],
    [{ 'retry-after': 'Mon, 13 Jul 2026 00:00:10 GMT' }, 10_000],
    [{ 'retry-after': 'Mon, 13 Jul 2026 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sun, 12 Jul 2026 00:00:00 GMT' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after-ms': 'x', 'retry-after': '2' }, 2000],
    [{}, undefined],
  ])('%j means %s', (headers, expected) => {
    expect(retryAfterMs(headers as Record<string, string>, now)).toBe(expected);
    const error = apiStatusError({ status: 429, headers: headers as Record<string, string>, nowMs: now });
    expect(RateLimitError.isInstance(error) && error.retryAfterMs).toBe(expected);
  });
});
