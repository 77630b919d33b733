import { ConflictError, ConnectionError, ServerError, TimeoutError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { type AttemptFailure, mayHaveHappened, statusOf } from './attempt-failure.js';

const lost = (code?: string): AttemptFailure => ({
  error: new ConnectionError({ message: 'lost', ...(code === undefined ? {} : { cause: Object.assign(new Error(code), { code }) }) }),
});

describe('mayHaveHappened', () => {
  it.each<[string, AttemptFailure, boolean]>([
    ['a connection lost for an unknown reason', lost(), true],
    ['a reset', lost('ECONNRESET'), true],
    ['a connection closed without an answer', lost('UND_ERR_SOCKET'), true],
    ['no answer in time', { error: new TimeoutError({ message: 'x', phase: 'headers' }) }, true],
    ['a body cut by the time limit', { error: new TimeoutError({ message: 'x', phase: 'body' }) }, true],
    ['a broken server', { status: 500 }, true],
    ['a broken proxy, as an error', { error: new ServerError({ message: 'x', status: 502 }) }, true],
    ['a request timeout', { status: 408 }, true],
    ['a refused connection', lost('ECONNREFUSED'), false],
    ['an unknown host', lost('ENOTFOUND'), false],
    ['a connection not made in time', { error: new TimeoutError({ message: 'x', phase: 'connect' }) }, false],
    ['a rate limit', { status: 429 }, false],
    ['a conflict', { error: new ConflictError({ message: 'x', status: 409 }) }, false],
    ['a bug of the caller', { error: new ValidationError({ direction: 'request', issues: [] }) }, false],
  ])('%s', (_, failure, expected) => {
    expect(mayHaveHappened(failure)).toBe(expected);
  });

  it('reads the status from the failure or from its error', () => {
    expect([{ status: 404 }, { error: new ServerError({ message: 'x', status: 503 }) }, lost()].map(statusOf)).toEqual([
      404,
      503,
      undefined,
    ]);
  });
});
