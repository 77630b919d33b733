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
import { apiStatusError, failureMessage, isRetryableResponse, isRetryableStatus, retryAfterMs } from '../wire.js';

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
  ])('%o keeps its own judgment where an option is undefined', (ErrorClass, code, isRetryable) => {
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

  it('recognizes the errors of another copy of the package', async () => {
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
      message: 'GET /api/v1/audit failed with status 403: key [redacted] may not read https://files/x?[redacted]',
      code: 'TINKEX_PERMISSION_DENIED',
      isRetryable: false,
      attempts: 1,
      status: 403,
      method: 'GET',
      path: '/api/v1/audit',
    });
  });

  it.each([
    'Authorization: Bearer abc.def.sekret',
    'authorization=Basic sekret',
    'client_secret=sekret',
    'Cookie: a=1; session=sekret',
    'https://files/x?X-Amz-Signature=sekret',
    'tml-sekret',
    '{"api_key": "sekret"}',
  ])('is never an echoed credential: %s', (echo) => {
    const shown = [
      apiStatusError({ status: 400, body: { detail: `refused: ${echo}` } }),
      apiStatusError({ status: 400, body: echo }),
      new RequestFailedError({ message: `The server failed: ${echo}` }),
      new ConnectionError({ message: echo }),
      new ValidationError({ direction: 'response', issues: [{ path: 'a', message: `must be text, got ${echo}` }] }),
    ];
    for (const { message } of shown) expect(message).not.toContain('sekret');
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
    [{ 'retry-after-ms': '-1', 'retry-after': '2' }, undefined],
    [{ 'retry-after': ' +1.5e1 ' }, 15_000],
    [{ 'retry-after': '.5' }, 500],
    [{ 'retry-after': '5.' }, 5000],
    [{ 'retry-after': '1e999' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{}, undefined],
  ])('%j means %s', (headers, expected) => {
    expect(retryAfterMs(headers as Record<string, string>, now)).toBe(expected);
    const error = apiStatusError({ status: 429, headers: headers as Record<string, string>, nowMs: now });
    expect(RateLimitError.isInstance(error) && error.retryAfterMs).toBe(expected);
  });

  it.each([
    ['0', undefined],
    ['0.001', 1],
    ['60', 60_000],
    ['60.001', undefined],
  ])('of %s seconds, with a limit of 60 s, means %s', (seconds, expected) => {
    expect(retryAfterMs({ 'retry-after': seconds }, now, { maxMs: 60_000 })).toBe(expected);
  });

  it('takes time in proportion to a hostile header', () => {
    for (const text of [`${'1'.repeat(300_000)}x`, `${' '.repeat(300_000)}x`, `1${'0'.repeat(300_000)}e`]) {
      expect(retryAfterMs({ 'retry-after': text }, now)).toBeUndefined();
    }
  });
});

describe('retryable statuses', () => {
  it('are 408, 409, 429 and 5xx, and no others', () => {
    const retryable = Array.from({ length: 500 }, (_, index) => index + 100).filter(isRetryableStatus);
    expect(retryable).toEqual([408, 409, 429, ...Array.from({ length: 100 }, (_, index) => index + 500)]);
  });

  it.each([200, 400, 409, 503])('leave %s to the server when it says what to do', (status) => {
    expect(isRetryableResponse(status, { 'x-should-retry': 'true' })).toBe(true);
    expect(isRetryableResponse(status, { 'x-should-retry': 'false' })).toBe(false);
    expect(isRetryableResponse(status, { 'x-should-retry': 'maybe' })).toBe(isRetryableStatus(status));
  });
});

describe('failureMessage', () => {
  it.each([
    [{ detail: 'a', message: 'b', error_message: 'c', error: 'd' }, 'a'],
    [{ message: 'b', error_message: 'c', error: 'd' }, 'b'],
    [{ error_message: 'c', error: 'd' }, 'c'],
    [{ error: 'd', category: 'user' }, 'd'],
    [{ detail: '', error: 'd' }, 'd'],
    [{ error: { message: 'nested', code: 1 } }, 'nested'],
    [{ detail: [{ loc: ['body'], msg: 'missing' }] }, '[{"loc":["body"],"msg":"missing"}]'],
    [{ error: { size: 1n } }, 'a body that cannot be shown'],
    ['text', 'text'],
    ['', undefined],
    [{}, undefined],
    [null, undefined],
    [[1], undefined],
  ])('of %o is %s', (body, expected) => {
    expect(failureMessage(body)).toBe(expected);
    expect(apiStatusError({ status: 400, body }).message).toBe(`The request failed with status 400${expected ? `: ${expected}` : ''}`);
  });
});
